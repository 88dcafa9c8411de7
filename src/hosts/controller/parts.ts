import { builtIns } from './built-ins/built-ins.ts';
import type { ControllerPart } from './controller-context.ts';
import { fanOut } from './fan-out/fan-out.ts';
import { operationSets } from './operation-sets/operation-sets.ts';

/** What a controller does while it leads. */
export const PARTS: readonly ControllerPart[] = [builtIns, operationSets, fanOut];
