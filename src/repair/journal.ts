import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Action, Outcome } from '../model/action.ts';
import {
  appendSynced,
  fieldsIn,
  prepareFolder,
  syncFolder,
  textIfThere,
} from '../state/state-folder.ts';
import type { Actor } from '../state/this-process.ts';
import { fieldAt } from '../std/json.ts';
import { JOURNAL_BYTES_MAX, JOURNAL_READ_BYTES_MAX } from './limits.ts';

/** An action and what it is for. */
export interface Intent<A extends Action = Action> {
  readonly action: A;
  /** The fault's id, and the finding's. */
  readonly fault: string;
  readonly finding: string;
}

/** One line. The intent and the outcome of a deed are two lines with the same number. */
export interface JournalRecord extends Intent {
  readonly entry: number;
  readonly at: string;
  readonly event: 'intended' | 'concluded';
  readonly boot: string;
  readonly by: { readonly pid: number; readonly user: string };
  /** Of a conclusion. */
  readonly outcome?: Outcome;
}

export interface Journal {
  /** On disk before it resolves, with the number of the entry: a crash in the act leaves a trace. */
  intend(intent: Intent): Promise<number>;
  conclude(entry: number, intent: Intent, outcome: Outcome): Promise<void>;
}

export interface JournalReading {
  /** Oldest first. */
  readonly records: readonly JournalRecord[];
  /** Intents whose outcome nobody wrote. */
  readonly unfinished: readonly JournalRecord[];
  /** Lines that are not records, in words. */
  readonly troubles: readonly string[];
}

const NEWEST = 'journal.jsonl';
const OLDER = 'journal.1.jsonl';
const NEXT = 'journal.next.jsonl';

/** What was done on this node. A torn or foreign line is told, and hides none of the others. */
export function readJournal(folder: string): JournalReading {
  const records = new Map<string, JournalRecord>();
  const troubles: string[] = [];
  // Without the newest file, a crash came between its two names: the next one is the newest.
  for (const name of [OLDER, existsSync(join(folder, NEWEST)) ? NEWEST : NEXT]) {
    const text = textIfThere(join(folder, name), JOURNAL_READ_BYTES_MAX) ?? '';
    for (const [at, line] of text.split('\n').entries()) {
      if (line === '') continue;
      const fields = fieldsIn(line);
      // An intent that was carried over into a new file is in both.
      if (isRecord(fields)) records.set(`${fields.entry} ${fields.event}`, fields);
      else troubles.push(`${name}:${at + 1} is not a record: ${line.slice(0, 60)}`);
    }
  }
  const all = [...records.values()].toSorted((left, right) => left.entry - right.entry);
  const isOpen = ({ entry, event }: JournalRecord) =>
    event === 'intended' && !records.has(`${entry} concluded`);
  return { records: all, unfinished: all.filter(isOpen), troubles };
}

interface JournalPlace {
  readonly folder: string;
  readonly actor: Actor;
  readonly now?: () => Date;
  readonly bytesMax?: number;
}

/** Appends to the journal in our folder on the node. Whoever writes holds the node's lock. */
export class FileJournal implements Journal {
  readonly #place: JournalPlace;

  constructor(place: JournalPlace) {
    this.#place = place;
  }

  async intend(intent: Intent): Promise<number> {
    await prepareFolder(this.#place.folder);
    const reading = readJournal(this.#place.folder);
    await this.#rotateWhenFull(reading);
    const entry = 1 + reading.records.reduce((most, record) => Math.max(most, record.entry), 0);
    await this.#append({ ...this.#record(entry, intent), event: 'intended' });
    return entry;
  }

  async conclude(entry: number, intent: Intent, outcome: Outcome): Promise<void> {
    await this.#append({ ...this.#record(entry, intent), event: 'concluded', outcome });
  }

  #record(entry: number, { action, fault, finding }: Intent): Omit<JournalRecord, 'event'> {
    const { actor, now = () => new Date() } = this.#place;
    const by = { pid: actor.pid, user: actor.user };
    return { entry, at: now().toISOString(), boot: actor.boot, by, fault, finding, action };
  }

  async #append(record: JournalRecord): Promise<void> {
    const [newest, next] = [this.#path(NEWEST), this.#path(NEXT)];
    if (!existsSync(newest) && existsSync(next)) await rename(next, newest);
    await appendSynced(newest, JSON.stringify(record));
  }

  /** What is unfinished goes on in the new file, for the older one is dropped at the next turn. */
  async #rotateWhenFull({ unfinished }: JournalReading): Promise<void> {
    const [newest, next] = [this.#path(NEWEST), this.#path(NEXT)];
    const text = textIfThere(newest, JOURNAL_READ_BYTES_MAX) ?? '';
    if (Buffer.byteLength(text) < (this.#place.bytesMax ?? JOURNAL_BYTES_MAX)) return;
    await rm(next, { force: true });
    const carried = unfinished.map((record) => JSON.stringify(record)).join('\n');
    if (carried !== '') await appendSynced(next, carried);
    await rename(newest, this.#path(OLDER));
    if (carried !== '') await rename(next, newest);
    await syncFolder(this.#place.folder);
  }

  #path(name: string): string {
    return join(this.#place.folder, name);
  }
}

type Fields = ReturnType<typeof fieldsIn>;

function isRecord(fields: Fields): fields is Fields & JournalRecord {
  const { entry, at, event, action, fault, finding } = fields;
  return (
    Number.isSafeInteger(entry) &&
    (event === 'intended' || event === 'concluded') &&
    [at, fault, finding].every((field) => typeof field === 'string') &&
    typeof fieldAt(action, 'kind') === 'string'
  );
}
