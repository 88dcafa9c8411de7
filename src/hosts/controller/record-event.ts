import type { RecordedEvent } from '../../pipeline/kube/event-recorder.ts';
import { answerOf } from '../../pipeline/store/store-answer.ts';
import type { ControllerContext } from './controller-context.ts';

/** An Event is for people: the work goes on without one that cannot be written, and the log says so. */
export async function recordEvent(
  { events, onMessage }: Pick<ControllerContext, 'events' | 'onMessage'>,
  event: RecordedEvent,
): Promise<void> {
  const answer = await answerOf(events.record(event));
  const { kind, name } = event.regarding;
  if (!answer.ok) onMessage(`Event for ${kind} ${name}: ${answer.error.message}`);
}
