import { listAt } from '../../lib/std/json.ts';
import { readAlert } from '../../pipeline/triggers/alert.ts';
import { missingIn, readCommonEvent } from '../../pipeline/triggers/common-event.ts';
import type { Read } from '../../pipeline/triggers/given-texts.ts';
import { ALERTS_MAX } from '../../pipeline/triggers/limits.ts';
import type { TriggerEvent } from '../../pipeline/triggers/trigger-event.ts';
import { json, type WebAnswer, type WebRequest } from './answer.ts';
import { jsonIn } from './read-body.ts';
import { StatusError } from './status-error.ts';

/** What came of one thing that was sent: the Diagnoses that it made, and why no others. */
export interface TakenIn {
  readonly what: string;
  readonly diagnoses: readonly string[];
  readonly notes: readonly string[];
}

export interface IntakeBackend {
  /** Throws when the store did not keep something; to send all of it again does nothing twice. */
  readonly takeIn: (events: readonly TriggerEvent[]) => Promise<readonly TakenIn[]>;
}

export const INTAKE_PATHS: readonly string[] = [
  '/api/v1/alerts',
  '/api/v2/alerts',
  '/api/v1/commonevent',
];

/**
 * Takes alerts and events in, for Triggers. Whoever sends them looks at the code alone: with 503 it
 * sends them again. 400 tells that some cannot be read at all; the others were taken.
 */
export async function answerIntake(
  backend: IntakeBackend,
  request: WebRequest,
): Promise<WebAnswer> {
  if (request.method !== 'POST') {
    throw new StatusError('MethodNotAllowed', `${request.method} means nothing here: use POST`);
  }
  const given = await jsonIn(request, ['application/json']);
  const now = new Date();
  const read =
    request.path.at(-1) === 'commonevent'
      ? [commonEventIn(given)]
      : alertsIn(given).map((each) => alertIn(each, now));
  const taken = await backend.takeIn(read.flatMap((each) => (each.ok ? [each.value] : [])));
  const reported = taken.values();
  const results = read.map((each, at) => {
    if (each.ok) return reported.next().value;
    const notes = [`it cannot be read: ${each.why}`];
    return { what: `number ${at + 1}`, diagnoses: [], notes };
  });
  return json({ results }, read.every(({ ok }) => ok) ? 200 : 400);
}

/** A list is what Prometheus sends, to either version; an object is what Alertmanager's webhook sends. */
function alertsIn(given: unknown): readonly unknown[] {
  const alerts = Array.isArray(given) ? (given as readonly unknown[]) : listAt(given, 'alerts');
  if (!alerts) {
    const text = 'send a list of alerts as Prometheus does, or the object of Alertmanager';
    throw new StatusError('BadRequest', `${text}'s webhook, with "alerts"`);
  }
  if (alerts.length <= ALERTS_MAX) return alerts;
  const text = `it has ${alerts.length} alerts, of ${ALERTS_MAX} at most: send them in parts`;
  throw new StatusError('RequestEntityTooLarge', text);
}

function alertIn(given: unknown, now: Date): Read<TriggerEvent> {
  const read = readAlert(given, now);
  return read.ok ? happened({ source: 'prometheusAlertTemplate', what: read.value }) : read;
}

function commonEventIn(given: unknown): Read<TriggerEvent> {
  const read = readCommonEvent(given);
  if (!read.ok) return read;
  const why = missingIn(read.value);
  if (why !== undefined) return { ok: false, why };
  return happened({ source: 'commonEventTemplate', what: read.value });
}

function happened(value: TriggerEvent): Read<TriggerEvent> {
  return { ok: true, value };
}
