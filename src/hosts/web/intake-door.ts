import { listAt } from '../../lib/std/json.ts';
import { readAlert } from '../../pipeline/triggers/alert.ts';
import { missingIn, readCommonEvent } from '../../pipeline/triggers/common-event.ts';
import type { Read } from '../../pipeline/triggers/given-texts.ts';
import type { Happening } from '../../pipeline/triggers/happening.ts';
import { ALERTS_MAX } from '../../pipeline/triggers/limits.ts';
import { json, type WebAnswer, type WebRequest } from './answer.ts';
import { jsonIn } from './read-body.ts';
import { StatusError } from './status-error.ts';

/** What came of one thing that was sent: the Diagnoses that it made, and why no others. */
export interface TakenIn {
  readonly what: string;
  readonly diagnoses: readonly string[];
  readonly notes: readonly string[];
}

export interface IntakeDoor {
  /** Throws when the store did not keep something; to send all of it again does nothing twice. */
  readonly takeIn: (happenings: readonly Happening[]) => Promise<readonly TakenIn[]>;
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
export async function answerIntake(door: IntakeDoor, request: WebRequest): Promise<WebAnswer> {
  if (request.method !== 'POST') {
    throw new StatusError('MethodNotAllowed', `${request.method} means nothing here: use POST`);
  }
  const given = await jsonIn(request, ['application/json']);
  const now = new Date();
  const read =
    request.path.at(-1) === 'commonevent'
      ? [commonEventIn(given)]
      : alertsIn(given).map((each) => alertIn(each, now));
  const taken = await door.takeIn(read.flatMap((each) => (each.ok ? [each.value] : [])));
  const told = taken.values();
  const results = read.map((each, at) => {
    if (each.ok) return told.next().value;
    const notes = [`it cannot be read: ${each.why}`];
    return { what: `number ${at + 1}`, diagnoses: [], notes };
  });
  return json({ results }, read.every(({ ok }) => ok) ? 200 : 400);
}

/** A list is what Prometheus sends, to either version; an object is what Alertmanager's webhook sends. */
function alertsIn(given: unknown): readonly unknown[] {
  const alerts = Array.isArray(given) ? (given as readonly unknown[]) : listAt(given, 'alerts');
  if (!alerts) {
    const words = 'send a list of alerts as Prometheus does, or the object of Alertmanager';
    throw new StatusError('BadRequest', `${words}'s webhook, with "alerts"`);
  }
  if (alerts.length <= ALERTS_MAX) return alerts;
  const words = `it has ${alerts.length} alerts, of ${ALERTS_MAX} at most: send them in parts`;
  throw new StatusError('RequestEntityTooLarge', words);
}

function alertIn(given: unknown, now: Date): Read<Happening> {
  const read = readAlert(given, now);
  return read.ok ? happened({ source: 'prometheusAlertTemplate', what: read.value }) : read;
}

function commonEventIn(given: unknown): Read<Happening> {
  const read = readCommonEvent(given);
  if (!read.ok) return read;
  const why = missingIn(read.value);
  if (why !== undefined) return { ok: false, why };
  return happened({ source: 'commonEventTemplate', what: read.value });
}

function happened(value: Happening): Read<Happening> {
  return { ok: true, value };
}
