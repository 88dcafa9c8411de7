import { existsSync, readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  appendSynced,
  DiskError,
  prepareFolder,
  syncFolder,
  textIfThere,
  writeSynced,
} from '../../lib/state/state-folder.ts';
import type { Actor } from '../../lib/state/this-process.ts';
import { defined } from '../../lib/std/defined.ts';
import type { Outcome } from '../model/action.ts';
import {
  hasSeenGone,
  type Intent,
  type Journal,
  type JournalReading,
  type JournalRecord,
  NEWEST,
  NEXT,
  OLDER,
  readJournal,
} from './journal.ts';
import { JOURNAL_BYTES_MAX, JOURNAL_READ_BYTES_MAX, STORED_FILES_MAX } from './limits.ts';

const HOUR_MS = 3_600_000;

/** The directory for saved states of removed containers, beside the journal. */
const SAVED = 'saved';

interface JournalPlace {
  readonly folder: string;
  readonly actor: Actor;
  readonly now?: () => Date;
  readonly bytesMax?: number;
}

/** Appends to the journal in our directory on the node. The writer holds the node's lock. */
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

  hasSeenGone(podUid: string, finding: string): boolean {
    const { folder, actor } = this.#place;
    return hasSeenGone(folder, { podUid, finding, boot: actor.boot });
  }

  async actionsInLastHour(): Promise<number> {
    const { folder, now = () => new Date() } = this.#place;
    const since = now().getTime() - HOUR_MS;
    // A time that is yet to come counts: the clock has been set back since.
    return readJournal(folder).records.filter(
      ({ event, at }) => event === 'intended' && !(Date.parse(at) <= since),
    ).length;
  }

  async keep(name: string, text: string): Promise<string> {
    const folder = this.#path(SAVED);
    await prepareFolder(folder);
    // container-ca80f370dfb53.json
    if (!/^\w[\w.-]*$/.test(name)) throw new DiskError(`${name} is no name of a file`);
    if (readdirSync(folder).length >= STORED_FILES_MAX) {
      throw new DiskError(`${folder} holds ${STORED_FILES_MAX} files: move them elsewhere`);
    }
    await writeSynced(join(folder, name), text);
    return join(folder, name);
  }

  #record(entry: number, intent: Intent): Omit<JournalRecord, 'event'> {
    const { action, fault, finding, purpose, rest } = intent;
    const { actor, now = () => new Date() } = this.#place;
    const by = { pid: actor.pid, user: actor.user };
    const wanted = defined({ fault, finding, purpose, action, rest });
    return { entry, at: now().toISOString(), boot: actor.boot, by, ...wanted };
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
