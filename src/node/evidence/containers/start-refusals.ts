import { defineEvidence } from '../../model/evidence.ts';
import type { Origin } from '../../model/origin.ts';

/** The error of a runtime that could not start a container, as a user quoted it. */
export interface StartRefusal {
  readonly text: string;
  /** Where the quote is: "events.txt:12". */
  readonly origin: Origin;
}

export type StartRefusals = readonly StartRefusal[];

/**
 * Errors without the container that they are about: from an event, a log, a chat message. On a node
 * this evidence is not needed, because the runtime itself can be asked.
 */
export const startRefusals = defineEvidence<StartRefusals>({
  id: 'start-refusals',
  title: 'Error messages of the runtime, as quoted by a person',
  collect: async () => [],
});
