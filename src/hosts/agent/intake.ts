import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TriggerSpec } from '../../pipeline/api/trigger.ts';
import { Semaphore } from '../../pipeline/diagnosis/semaphore.ts';
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
import { type TriggerEvent, wordsOf } from '../../pipeline/triggers/trigger-event.ts';
import type { TakenIn } from '../web/intake-handler.ts';
import { StatusError } from '../web/status-error.ts';
import { INTAKE_MS, INTAKES_WAITING_MAX, TRIGGERED_MAX } from './limits.ts';

export interface IntakeContext {
  readonly store: Store;
  readonly here: Here;
  /** For so long, what a Trigger has seen is not new to it. */
  readonly repeatMs: number;
  readonly now?: () => Date;
  /** Told of each that came, and of each Diagnosis that was made of one, or was not. */
  readonly onTaken?: (source: TriggerEvent['source'], came: IntakeResult) => void;
}

export type IntakeResult = 'received' | 'made' | 'not-made';

interface ReadyTrigger extends NamedTrigger {
  readonly match: (event: TriggerEvent) => Match;
}

/** Makes Diagnoses of what happens: one for every Trigger that matches, in the order of their names. */
export class Intake {
  readonly #context: IntakeContext;
  /** One after another: two that send the same at the same moment make one Diagnosis. */
  readonly #turns = new Semaphore(1);
  #waiting = 0;
  /** When each Trigger last made a Diagnosis of each thing, as far as that still matters. */
  #made: Map<string, number> | undefined;

  constructor(context: IntakeContext) {
    this.#context = context;
  }

  async takeIn(triggerEvents: readonly TriggerEvent[]): Promise<readonly TakenIn[]> {
    if (this.#waiting >= INTAKES_WAITING_MAX) {
      const text = `${INTAKES_WAITING_MAX} requests wait to be taken in already: send it later`;
      throw new StatusError('ServiceUnavailable', text);
    }
    this.#waiting += 1;
    try {
      return await this.#turns.take(() => this.#takeAll(triggerEvents));
    } finally {
      this.#waiting -= 1;
    }
  }

  async #takeAll(triggerEvents: readonly TriggerEvent[]): Promise<readonly TakenIn[]> {
    const now = this.#now();
    const made = await this.#madeUntil(now);
    const triggers = await readyTriggers(this.#context.store);
    const taken: TakenIn[] = [];
    for (const event of triggerEvents) {
      if (this.#now().getTime() - now.getTime() > INTAKE_MS) {
        const done = `${taken.length} of ${triggerEvents.length} were compared with all Triggers`;
        const text = `after ${INTAKE_MS / 1_000} s ${done}: send fewer at once, or write shorter patterns`;
        throw new StatusError('ServiceUnavailable', text);
      }
      taken.push(await this.#take(event, triggers, { now, made }));
    }
    return taken;
  }

  #now(): Date {
    return this.#context.now?.() ?? new Date();
  }

  async #take(
    event: TriggerEvent,
    triggers: readonly ReadyTrigger[],
    { now, made }: { readonly now: Date; readonly made: Map<string, number> },
  ): Promise<TakenIn> {
    const what = wordsOf(event);
    this.#context.onTaken?.(event.source, 'received');
    if (event.source === 'prometheusAlertTemplate' && event.what.isResolved) {
      return { what, diagnoses: [], notes: ['it is resolved: there is nothing to be done'] };
    }
    const diagnoses: string[] = [];
    const notes: string[] = [];
    for (const trigger of triggers) {
      // Many patterns on many alerts take their time; others want answers meanwhile.
      await nextTurn();
      const { matched, error } = trigger.match(event);
      const note = (text: string) => notes.push(`Trigger ${trigger.name}: ${text}`);
      if (error !== undefined) note(error);
      if (!matched) continue;
      const origin = originOf(trigger, event);
      const before = made.get(origin);
      if (before !== undefined) {
        note(`it made a Diagnosis of this at ${new Date(before).toISOString()} already`);
        continue;
      }
      const stored = await this.#keep(trigger, event, now);
      if (stored.ok) {
        made.set(origin, now.getTime());
        diagnoses.push(stored.value);
      } else note(stored.why);
    }
    if (diagnoses.length + notes.length === 0) notes.push('no Trigger waits for it');
    return { what, diagnoses, notes };
  }

  /** Under the first name that is free: two alerts of the same second are two. */
  async #keep(trigger: NamedTrigger, event: TriggerEvent, now: Date): Promise<Read<string>> {
    const { store, here, onTaken } = this.#context;
    for (let nameChoice = 1; ; nameChoice += 1) {
      const diagnosis = diagnosisOf(trigger, event, here, { now, nameChoice });
      if (diagnosis.ok) this.#refuseBeyondLimit();
      const created = diagnosis.ok ? await answerOf(store.create(diagnosis.value)) : diagnosis;
      if (created.ok) {
        onTaken?.(event.source, 'made');
        return { ok: true, value: created.value.metadata.name };
      }
      const isNameTaken = 'error' in created && created.error.trouble === 'AlreadyExists';
      if (isNameTaken && nameChoice <= TRIGGERED_MAX) continue;
      onTaken?.(event.source, 'not-made');
      if ('error' in created) throw created.error;
      return created;
    }
  }

  #refuseBeyondLimit(): void {
    if ((this.#made?.size ?? 0) < TRIGGERED_MAX) return;
    const text = `Triggers have made ${TRIGGERED_MAX} Diagnoses within the repeat interval`;
    throw new StatusError(
      'ServiceUnavailable',
      `${text}, and make no more: let fewer alerts match, or send it again later`,
    );
  }

  /** Read once from what is kept, so that a restart repeats nothing; what is too old is forgotten. */
  async #madeUntil(now: Date): Promise<Map<string, number>> {
    this.#made ??= await madeBefore(this.#context.store);
    for (const [origin, ms] of this.#made) {
      // A time that is still to come was written by a clock that was wrong.
      if (Math.abs(now.getTime() - ms) >= this.#context.repeatMs) this.#made.delete(origin);
    }
    return this.#made;
  }
}

async function madeBefore(store: Store): Promise<Map<string, number>> {
  const made = new Map<string, number>();
  const { objects } = await store.each('Diagnosis', TRIGGERED_NAMESPACE);
  for (const { metadata } of objects) {
    const origin = originIn(metadata.annotations);
    const ms = Date.parse(metadata.creationTimestamp);
    if (origin !== undefined) made.set(origin, Math.max(ms, made.get(origin) ?? ms));
  }
  return made;
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
