import { setImmediate as nextTurn } from 'node:timers/promises';
import { Semaphore } from '../../lib/std/semaphore.ts';
import type { TriggerSpec } from '../../pipeline/api/trigger.ts';
import type { Store } from '../../pipeline/store/store.ts';
import { answerOf } from '../../pipeline/store/store-answer.ts';
import {
  diagnosisOf,
  type Here,
  type NamedTrigger,
  originIn,
  originOf,
  TRIGGERED_NAMESPACE,
} from '../../pipeline/triggers/diagnosis-of.ts';
import type { Read } from '../../pipeline/triggers/given-texts.ts';
import { type Match, matcherFor } from '../../pipeline/triggers/matcher.ts';
import { type TriggerEvent, titleOf } from '../../pipeline/triggers/trigger-event.ts';
import type { TakenIn, Unavailable } from '../web/intake-handler.ts';
import { INTAKE_MS, INTAKES_WAITING_MAX, TRIGGERED_MAX } from './limits.ts';

export interface IntakeContext {
  readonly store: Store;
  readonly here: Here;
  /** How long a Trigger ignores repeats of an event. */
  readonly repeatMs: number;
  readonly now?: () => Date;
  /** Called for each event, and for each Diagnosis that was created or could not be. */
  readonly onTaken?: (source: TriggerEvent['source'], came: IntakeResult) => void;
}

export type IntakeResult = 'received' | 'created' | 'not-created';

interface ReadyTrigger extends NamedTrigger {
  readonly match: (event: TriggerEvent) => Match;
}

/** Creates Diagnoses from events: one for every Trigger that matches, by the names of the Triggers. */
export class Intake {
  readonly #context: IntakeContext;
  /** One request at a time: two senders of the same event create one Diagnosis. */
  readonly #semaphore = new Semaphore(1);
  #waiting = 0;
  /** When each Trigger last created a Diagnosis from each event, within the repeat interval. */
  #created: Map<string, number> | undefined;

  constructor(context: IntakeContext) {
    this.#context = context;
  }

  async takeIn(triggerEvents: readonly TriggerEvent[]): Promise<readonly TakenIn[] | Unavailable> {
    if (this.#waiting >= INTAKES_WAITING_MAX) {
      return {
        unavailable: `${INTAKES_WAITING_MAX} requests are waiting already: try again later`,
      };
    }
    this.#waiting += 1;
    try {
      return await this.#semaphore.run(() => this.#takeAll(triggerEvents));
    } finally {
      this.#waiting -= 1;
    }
  }

  async #takeAll(
    triggerEvents: readonly TriggerEvent[],
  ): Promise<readonly TakenIn[] | Unavailable> {
    const now = this.#now();
    const created = await this.#createdUntil(now);
    const triggers = await readyTriggers(this.#context.store);
    const taken: TakenIn[] = [];
    for (const event of triggerEvents) {
      if (this.#now().getTime() - now.getTime() > INTAKE_MS) {
        const done = `${taken.length} of ${triggerEvents.length} events in ${INTAKE_MS / 1_000}s`;
        return { unavailable: `compared ${done}: send fewer at once, or use shorter patterns` };
      }
      const result = await this.#take(event, triggers, { now, created });
      if ('unavailable' in result) return result;
      taken.push(result);
    }
    return taken;
  }

  #now(): Date {
    return this.#context.now?.() ?? new Date();
  }

  async #take(
    event: TriggerEvent,
    triggers: readonly ReadyTrigger[],
    { now, created }: { readonly now: Date; readonly created: Map<string, number> },
  ): Promise<TakenIn | Unavailable> {
    const what = titleOf(event);
    this.#context.onTaken?.(event.source, 'received');
    if (event.source === 'prometheusAlertTemplate' && event.what.isResolved) {
      return { what, diagnoses: [], notes: ['resolved: nothing to do'] };
    }
    const diagnoses: string[] = [];
    const notes: string[] = [];
    for (const trigger of triggers) {
      // Many patterns on many alerts take time, and other requests must not wait for them.
      await nextTurn();
      const { matched, error } = trigger.match(event);
      const note = (text: string) => notes.push(`Trigger ${trigger.name}: ${text}`);
      if (error !== undefined) note(error);
      if (!matched) continue;
      const origin = originOf(trigger, event);
      const before = created.get(origin);
      if (before !== undefined) {
        note(`repeated: it created a Diagnosis at ${new Date(before).toISOString()}`);
        continue;
      }
      const stored = await this.#create(trigger, event, now);
      if ('unavailable' in stored) return stored;
      if (stored.ok) {
        created.set(origin, now.getTime());
        diagnoses.push(stored.value);
      } else note(stored.why);
    }
    if (diagnoses.length + notes.length === 0) notes.push('no Trigger matches');
    return { what, diagnoses, notes };
  }

  /** Under the first free name: two alerts may come in the same second. */
  async #create(
    trigger: NamedTrigger,
    event: TriggerEvent,
    now: Date,
  ): Promise<Read<string> | Unavailable> {
    const { store, here, onTaken } = this.#context;
    for (let nameChoice = 1; ; nameChoice += 1) {
      const diagnosis = diagnosisOf(trigger, event, here, { now, nameChoice });
      const isAtLimit = (this.#created?.size ?? 0) >= TRIGGERED_MAX;
      if (diagnosis.ok && isAtLimit) return { unavailable: AT_LIMIT };
      const created = diagnosis.ok ? await answerOf(store.create(diagnosis.value)) : diagnosis;
      if (created.ok) {
        onTaken?.(event.source, 'created');
        return { ok: true, value: created.value.metadata.name };
      }
      const isNameTaken = 'error' in created && created.error.reason === 'AlreadyExists';
      if (isNameTaken && nameChoice <= TRIGGERED_MAX) continue;
      onTaken?.(event.source, 'not-created');
      if ('error' in created) throw created.error;
      return created;
    }
  }

  /** Read once from the store, so that a restart repeats nothing; without those that are too old. */
  async #createdUntil(now: Date): Promise<Map<string, number>> {
    this.#created ??= await createdBefore(this.#context.store);
    for (const [origin, ms] of this.#created) {
      // A time in the future comes from a clock that was wrong.
      if (Math.abs(now.getTime() - ms) >= this.#context.repeatMs) this.#created.delete(origin);
    }
    return this.#created;
  }
}

const AT_LIMIT =
  `Triggers have created ${TRIGGERED_MAX} Diagnoses within the repeat interval, which is the limit: ` +
  'let fewer alerts match, or try again later';

async function createdBefore(store: Store): Promise<Map<string, number>> {
  const created = new Map<string, number>();
  const { objects } = await store.each('Diagnosis', { namespace: TRIGGERED_NAMESPACE });
  for await (const { metadata } of objects) {
    const origin = originIn(metadata.annotations);
    const ms = Date.parse(metadata.creationTimestamp);
    if (origin !== undefined) created.set(origin, Math.max(ms, created.get(origin) ?? ms));
  }
  return created;
}

async function readyTriggers(store: Store): Promise<readonly ReadyTrigger[]> {
  const { items } = await store.list('Trigger');
  return items
    .map(({ metadata: { name }, spec }) => ({ name, spec: spec as TriggerSpec }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map((trigger) => {
      const { spec } = trigger;
      const alerts = matcherFor(spec, 'prometheusAlertTemplate');
      const events = matcherFor(spec, 'commonEventTemplate');
      const match = ({ source, what }: TriggerEvent) =>
        source === 'prometheusAlertTemplate' ? alerts(what) : events(what);
      return { ...trigger, match };
    });
}
