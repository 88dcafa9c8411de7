import type { ControllerPart } from './controller-context.ts';

/** What a controller does while it leads. */
export const PARTS: readonly ControllerPart[] = [];
