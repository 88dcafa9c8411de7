import { fieldAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { connectAgent, isGranted } from '../agent-client/agent-error.ts';
import {
  isSelection,
  namedOrSelected,
  queryOf,
  type Selection,
  type SelectionOptions,
  selectedObjects,
} from '../agent-client/selected-objects.ts';
import { uidOf, type WaitCondition, waitCondition } from '../agent-client/wait-condition.ts';
import { fullName, pathOf } from '../command-line/kind-named.ts';
import { durationMs } from '../command-line/options.ts';
import type { AgentOptions } from '../command-line/shared-options.ts';

export interface WaitOptions extends AgentOptions, SelectionOptions {
  readonly for: string;
  readonly timeout: string;
}

/** As in kubectl, a negative timeout is a week. */
const WEEK_MS = 7 * 24 * 3_600_000;

export async function wait(
  args: readonly string[],
  options: WaitOptions,
  terminal: Terminal,
): Promise<number> {
  const condition = waitCondition(options.for);
  const limitMs = limitOf(options.timeout);
  const named = namedOrSelected(args, options, 'wait for');
  if (!isSelection(options) && named.some(({ name }) => name === undefined)) {
    throw new UsageError('resource(s) were provided, but no name was specified');
  }
  const client = await connectAgent(options, terminal);
  if (!client) return EXIT.notDone;
  const targets = await selectedObjects(named, options, client, terminal);
  if (targets === undefined) return EXIT.notDone;
  if (targets.length === 0 && condition.is !== 'delete') {
    terminal.err('error: no matching resources found\n');
    return EXIT.found;
  }
  // As in kubectl, one timeout for all objects together.
  const deadline = AbortSignal.timeout(limitMs);
  const codes: number[] = [];
  for (const target of targets) {
    const one = { target, condition, deadline, isOnce: limitMs === 0 };
    codes.push(await waitForOne(one, client, terminal));
  }
  return Math.max(EXIT.clear, ...codes);
}

function limitOf(text: string): number {
  if (/^-\d/.test(text)) return WEEK_MS;
  if (/^0(ms|s|m|h)?$/.test(text)) return 0;
  return durationMs('--timeout', text, '168h');
}

interface OneWait {
  readonly target: Selection;
  readonly condition: WaitCondition;
  readonly deadline: AbortSignal;
  /** Check once and do not wait. */
  readonly isOnce: boolean;
}

async function waitForOne(
  { target, condition, deadline, isOnce }: OneWait,
  client: AgentClient,
  terminal: Terminal,
): Promise<number> {
  const { kind, name, namespace } = target;
  const met = () => {
    terminal.out(`${printable(fullName(kind, name))} condition met\n`);
    return EXIT.clear;
  };
  const first = await client.ask('GET', pathOf(kind, namespace, name));
  const isAbsent = 'code' in first && first.code === 404;
  if (isAbsent && condition.is === 'delete') return EXIT.clear;
  if (!(isAbsent && condition.is === 'create') && !isGranted(first, terminal)) return EXIT.notDone;
  const object = isAbsent || !('value' in first) ? undefined : first.value;
  if (object !== undefined && isMetBy('MODIFIED', object, condition, object)) return met();
  const called = `${kind.plural}/${printable(name)}`;
  if (isOnce) {
    terminal.err(`error: condition not met for ${called}\n`);
    return EXIT.found;
  }
  const ended = await watchUntilMet({ target, condition, deadline, object }, client);
  if (ended === 'met') return met();
  if (ended === 'timeout') {
    terminal.err(`error: timed out waiting for the condition on ${called}\n`);
    return EXIT.found;
  }
  isGranted(ended, terminal);
  return EXIT.notDone;
}

async function watchUntilMet(
  { target, condition, deadline, object }: Omit<OneWait, 'isOnce'> & { readonly object: unknown },
  client: AgentClient,
) {
  const { kind, name, namespace } = target;
  const found = new AbortController();
  const stop = AbortSignal.any([deadline, found.signal]);
  let resourceVersion = textAt(object, 'metadata', 'resourceVersion') ?? '';
  // The server ends a watch now and then; continue where it ended.
  for (let isFirst = true; !stop.aborted; isFirst = false) {
    // The next watch may not show a deletion from before it began.
    if (!isFirst && condition.is === 'delete') {
      const now = await client.ask('GET', pathOf(kind, namespace, name));
      if ('code' in now && now.code === 404) return 'met';
    }
    const field = { fieldSelector: `metadata.name=${name}` };
    const query = queryOf(field, { watch: 'true', resourceVersion });
    const ended = await client.follow(
      `${pathOf(kind, namespace)}${query}`,
      (event) => {
        const type = textAt(event, 'type') ?? '';
        const seen = fieldAt(event, 'object');
        if (type === 'ERROR') resourceVersion = '';
        else {
          resourceVersion = textAt(seen, 'metadata', 'resourceVersion') ?? resourceVersion;
          if (isMetBy(type, seen, condition, object)) found.abort();
        }
      },
      { stop },
    );
    if (!stop.aborted && ('failure' in ended || ended.code >= 400)) return ended;
  }
  return found.signal.aborted ? ('met' as const) : ('timeout' as const);
}

function isMetBy(
  type: string,
  object: unknown,
  condition: WaitCondition,
  before: unknown,
): boolean {
  const isGone = type === 'DELETED';
  if (condition.is === 'delete') return isGone || uidOf(object) !== uidOf(before);
  if (isGone) return false;
  return condition.is === 'create' || condition.isMet(object);
}
