import { defineEvidence } from '../../model/evidence.ts';
import type { Origin } from '../../model/origin.ts';

/** What a runtime said when it could not start a container, as somebody quoted it. */
export interface StartRefusal {
  readonly text: string;
  /** Where it stands: "events.txt:12". */
  readonly origin: Origin;
}

export type StartRefusals = readonly StartRefusal[];

/**
 * Words that reached us without the container that they are about: from an event, a log, a message
 * in a chat. On a node there is no need of them, for there the runtime itself can be asked.
 */
export const startRefusals = defineEvidence<StartRefusals>({
  id: 'start-refusals',
  title: 'Error messages of the runtime, as quoted by a person',
  collect: async () => [],
});
