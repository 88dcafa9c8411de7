import { randomUUID } from 'node:crypto';
import { answerOf } from '../store/store-answer.ts';
import type { KubeClient } from './kube-client.ts';
import {
  EVENT_NOTE_BYTES_MAX,
  EVENT_SERIES_MS,
  EVENT_WORD_CHARACTERS_MAX,
  EVENTS_REMEMBERED_MAX,
  NAME_CHARACTERS_MAX,
} from './limits.ts';
import { microTime } from './objects.ts';

/** What an Event is about. Without an apiVersion and a uid, kubectl describe does not show it. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
}

export interface RecordedEvent {
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference | undefined;
  readonly type: 'Normal' | 'Warning';
  /** Why, in CamelCase. */
  readonly reason: string;
  /** What we did, in CamelCase. */
  readonly action: string;
  /** For a person. It is part of what makes two events the same: without times and counts. */
  readonly note: string;
}

interface RecorderOptions {
  /** The program, such as "kubediag.org/agent". */
  readonly controller: string;
  /** The node or pod where it runs. */
  readonly instance: string;
  readonly now?: () => Date;
}

interface Series {
  readonly name: string;
  readonly begun: Date;
  isCreated: boolean;
  count: number;
  lastMs: number;
}

/** Writes Events. The same one again within six minutes is counted in a series. */
export class EventRecorder {
  readonly #client: KubeClient;
  readonly #options: RecorderOptions;
  readonly #now: () => Date;
  readonly #series = new Map<string, Series>();

  constructor(client: KubeClient, options: RecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
  }

  /** Rejects with the error of the server; the next call writes what is missing. */
  async record(event: RecordedEvent): Promise<void> {
    const now = this.#now();
    const series = this.#seriesOf(event, now);
    if (series.isCreated) {
      // Counted when it is written: an attempt that failed is repeated with the same number.
      const count = series.count + 1;
      const body = { series: { count, lastObservedTime: microTime(now) } };
      const path = `${this.#path(event)}/${series.name}`;
      const contentType = 'application/merge-patch+json';
      const answer = await answerOf(
        this.#client.request({ method: 'PATCH', path, contentType, body }),
      );
      if (answer.ok) {
        series.count = count;
        return;
      }
      if (answer.error.reason !== 'NotFound') throw answer.error;
      // The server deletes Events after an hour.
    }
    await this.#create(event, series);
  }

  async #create(event: RecordedEvent, series: Series): Promise<void> {
    const { controller, instance } = this.#options;
    const { regarding, related, type } = event;
    const body = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: series.name, namespace: namespaceOf(event) },
      eventTime: microTime(series.begun),
      reportingController: controller,
      reportingInstance: instance.slice(0, EVENT_WORD_CHARACTERS_MAX),
      action: event.action.slice(0, EVENT_WORD_CHARACTERS_MAX),
      reason: event.reason.slice(0, EVENT_WORD_CHARACTERS_MAX),
      ...{ type, regarding, related },
      note: cutNote(event.note),
    };
    const path = this.#path(event);
    const answer = await answerOf(this.#client.request({ method: 'POST', path, body }));
    // It exists when the answer to the first attempt was lost.
    if (!answer.ok && answer.error.reason !== 'AlreadyExists') throw answer.error;
    series.isCreated = true;
    series.count = 1;
  }

  #seriesOf(event: RecordedEvent, now: Date): Series {
    const key = JSON.stringify(event);
    const known = this.#series.get(key);
    // The most recent ones are last, so that the oldest one is forgotten.
    this.#series.delete(key);
    const isSame = known && now.getTime() - known.lastMs < EVENT_SERIES_MS;
    const series = isSame ? known : newSeries(event, now);
    series.lastMs = now.getTime();
    this.#series.set(key, series);
    const [oldest] = this.#series.keys();
    if (this.#series.size > EVENTS_REMEMBERED_MAX) this.#series.delete(oldest ?? '');
    return series;
  }

  #path(event: RecordedEvent): string {
    return `/apis/events.k8s.io/v1/namespaces/${namespaceOf(event)}/events`;
  }
}

function newSeries({ regarding }: RecordedEvent, now: Date): Series {
  const ending = `.${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  const about = regarding.name.slice(0, NAME_CHARACTERS_MAX - ending.length);
  // A part of a name ends with a letter or a digit.
  const name = `${about.replace(/[.-]+$/, '')}${ending}`;
  return { name, begun: now, isCreated: false, count: 1, lastMs: 0 };
}

/** Events about objects without a namespace are in this one. */
function namespaceOf({ regarding }: RecordedEvent): string {
  return regarding.namespace ?? 'default';
}

/** As many bytes as the API allows, without half a character. */
function cutNote(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= EVENT_NOTE_BYTES_MAX) return note;
  const ending = '…';
  const cut = bytes.subarray(0, EVENT_NOTE_BYTES_MAX - Buffer.byteLength(ending)).toString();
  return `${cut.replace(/\uFFFD+$/, '')}${ending}`;
}
