import type { IncomingMessage } from 'node:http';
import { DumpParser } from '../../lib/go/dump-parser.ts';
import type { GoroutineDump } from '../../lib/go/goroutine-dump.ts';
import { type KubeletPage, type Question, ReadError, sourceOf } from '../model/node-reader.ts';
import { bodyOf, fromKubelet, piecesOf } from './kubelet-http.ts';
import { DUMP_BYTES_MAX, DUMP_MS, PROFILE_BYTES_MAX, SERVICE_MS } from './limits.ts';
import type { ReaderSettings } from './reader-protocol.ts';

/** The kubelet's goroutines, grouped as they come: a dump may have a hundred megabytes. */
export function goroutinesOfKubelet(
  question: KubeletPage,
  settings: ReaderSettings,
): Promise<GoroutineDump> {
  const source = sourceOf(question);
  return fromKubelet(question, settings, DUMP_MS, async (response) => {
    await requireSuccess(response, source);
    const parser = new DumpParser();
    for await (const chunk of piecesOf(response, source, DUMP_BYTES_MAX)) parser.push(chunk);
    const dump = parser.finish();
    if (dump.format === 'none') {
      throw new ReadError('malformed', source, 'what it sent is no goroutine dump');
    }
    return dump;
  });
}

/** A CPU profile of the kubelet as it sends it (gzip, profile.proto), in base64. */
export function profileOfKubelet(
  question: Question<'profile'>,
  settings: ReaderSettings,
): Promise<string> {
  const source = sourceOf(question);
  const limitMs = question.seconds * 1_000 + SERVICE_MS;
  return fromKubelet(question, settings, limitMs, async (response) => {
    await requireSuccess(response, source);
    return Buffer.concat(await bodyOf(response, source, PROFILE_BYTES_MAX)).toString('base64');
  });
}

const OUTPUT_BYTES_MAX = 64 * 1024;
const TEXT_SHOWN_MAX = 300;

async function requireSuccess(response: IncomingMessage, source: string): Promise<void> {
  const { statusCode = 0 } = response;
  if (statusCode === 200) return;
  const body = Buffer.concat(await bodyOf(response, source, OUTPUT_BYTES_MAX)).toString('utf8');
  const text = body.replace(/\s+/g, ' ').trim().slice(0, TEXT_SHOWN_MAX);
  const detail = `HTTP ${statusCode}${text ? `: ${text}` : ''}`;
  const isDenied = statusCode === 401 || statusCode === 403;
  // With its debugging handlers switched off, a kubelet answers 405 or 404.
  const isUnknown = statusCode === 404 || statusCode === 405;
  throw new ReadError(isDenied ? 'denied' : isUnknown ? 'unsupported' : 'failed', source, detail);
}
