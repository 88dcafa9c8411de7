import { listAt } from '../../lib/std/json.ts';
import { readAlert } from '../../pipeline/triggers/alert.ts';
import { missingIn, readCommonEvent } from '../../pipeline/triggers/common-event.ts';
import type { Read } from '../../pipeline/triggers/given-texts.ts';
import { ALERTS_MAX } from '../../pipeline/triggers/limits.ts';
import type { TriggerEvent } from '../../pipeline/triggers/trigger-event.ts';
import { json, type WebAnswer, type WebRequest } from './answer.ts';
import { jsonIn } from './read-body.ts';
import { StatusError } from './status-error.ts';

/** The Diagnoses that an event created, and why it created no others. */
export interface TakenIn {
  readonly what: string;
  readonly diagnoses: readonly string[];
  readonly notes: readonly string[];
}

/** Not all events were handled. A client may send all of them again: nothing is done twice. */
export interface Unavailable {
  readonly unavailable: string;
}

export interface IntakeBackend {
  /** Throws a `StoreError`; then too the client may send all of them again. */
  readonly takeIn: (events: readonly TriggerEvent[]) => Promise<readonly TakenIn[] | Unavailable>;
}

export const INTAKE_PATHS: readonly string[] = [
  '/api/v1/alerts',
  '/api/v2/alerts',
  '/api/v1/commonevent',
];

/**
 * Receives alerts and events for Triggers. Clients look at the status code only: after 503 they send
 * everything again. 400 means that some are malformed; the others were handled.
 */
export async function answerIntake(
  backend: IntakeBackend,
  request: WebRequest,
): Promise<WebAnswer> {
  if (request.method !== 'POST') {
    throw new StatusError('MethodNotAllowed', `${request.method} is not supported: use POST`);
  }
  const given = await jsonIn(request, ['application/json']);
  const now = new Date();
  const read =
    request.path.at(-1) === 'commonevent'
      ? [commonEventIn(given)]
      : alertsIn(given).map((each) => alertIn(each, now));
  const taken = await backend.takeIn(read.flatMap((each) => (each.ok ? [each.value] : [])));
  if ('unavailable' in taken) throw new StatusError('ServiceUnavailable', taken.unavailable);
  const handled = taken.values();
  const results = read.map((each, at) => {
    if (each.ok) return handled.next().value;
    const notes = [`malformed: ${each.why}`];
    return { what: `event ${at + 1}`, diagnoses: [], notes };
  });
  return json({ results }, read.every(({ ok }) => ok) ? 200 : 400);
}

/** Prometheus sends a list, in both versions; the webhook of Alertmanager sends an object. */
function alertsIn(given: unknown): readonly unknown[] {
  const alerts = Array.isArray(given) ? (given as readonly unknown[]) : listAt(given, 'alerts');
  if (!alerts) {
    const text =
      'send a list of alerts, or an object with "alerts" as the webhook of Alertmanager does';
    throw new StatusError('BadRequest', text);
  }
  if (alerts.length <= ALERTS_MAX) return alerts;
  const text = `${alerts.length} alerts, and the limit is ${ALERTS_MAX}: send them in parts`;
  throw new StatusError('RequestEntityTooLarge', text);
}

function alertIn(given: unknown, now: Date): Read<TriggerEvent> {
  const read = readAlert(given, now);
  if (!read.ok) return read;
  return { ok: true, value: { source: 'prometheusAlertTemplate', what: read.value } };
}

function commonEventIn(given: unknown): Read<TriggerEvent> {
  const read = readCommonEvent(given);
  if (!read.ok) return read;
  const why = missingIn(read.value);
  if (why !== undefined) return { ok: false, why };
  return { ok: true, value: { source: 'commonEventTemplate', what: read.value } };
}
