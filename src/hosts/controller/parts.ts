import { builtIns } from './built-ins/built-ins.ts';
import type { ControllerPart } from './controller-context.ts';
import { expired } from './expired/expired.ts';
import { fanOut } from './fan-out/fan-out.ts';
import { lost } from './lost/lost.ts';
import { operationSets } from './operation-sets/operation-sets.ts';
import { removedAgents } from './removed-agents/removed-agents.ts';
import { slots } from './slots/slots.ts';
import { steps } from './steps/steps.ts';
import { targets } from './targets/targets.ts';

/** What a controller does while it leads. */
export const PARTS: readonly ControllerPart[] = [
  builtIns,
  operationSets,
  targets,
  fanOut,
  lost,
  expired,
  slots,
  steps,
  removedAgents,
];
