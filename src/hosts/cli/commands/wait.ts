import { fieldAt, listAt, numberAt, textAt } from '../../../lib/std/json.ts';
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
import { fullName, pathOf } from '../command-line/kind-named.ts';
import { durationMs } from '../command-line/options.ts';
import type { AgentOptions } from '../command-line/shared-options.ts';
import { valuesAt, valueText } from '../screens/json-path.ts';
import { parseOnePath } from '../screens/parse-json-path.ts';

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
  // An object that was recreated under the same name has another UID.
  const uidOf = (each: unknown) => fieldAt(each, 'metadata', 'uid');
  if (condition.is === 'delete') return isGone || uidOf(object) !== uidOf(before);
  if (isGone) return false;
  return condition.is === 'create' || condition.isMet(object);
}

/** What `--for` waits for: an object is deleted, exists, or meets a condition. */
type WaitCondition =
  | { readonly is: 'delete' }
  | { readonly is: 'create' }
  | { readonly is: 'object'; readonly isMet: (object: unknown) => boolean };

// condition=Complete, condition=Accepted=false
const CONDITION = /^condition=([^=]+)(?:=(.+))?$/;
// jsonpath={.status.phase}=Succeeded, jsonpath={.status.phase}, jsonpath=.status.phase=Succeeded
const JSON_PATH = /^jsonpath=(\{[^}]*\}|[^={}]+)(?:=(.+))?$/s;

export function waitCondition(text: string): WaitCondition {
  const word = text.toLowerCase();
  if (word === 'delete') return { is: 'delete' };
  if (word === 'create') return { is: 'create' };
  const [, type, status = 'true'] = CONDITION.exec(text) ?? [];
  if (type !== undefined) return { is: 'object', isMet: hasCondition(type, status) };
  if (text.startsWith('jsonpath=')) {
    const [, path, value] = JSON_PATH.exec(text) ?? [];
    if (path === undefined) {
      throw new UsageError(
        "jsonpath wait format must be --for=jsonpath='{.status.phase}'=Succeeded or " +
          "--for=jsonpath='{.status.phase}'",
      );
    }
    return { is: 'object', isMet: hasValue(path, value) };
  }
  throw new UsageError(
    `unrecognized condition: "${text}", expected delete, create, condition=NAME, ` +
      "condition=NAME=STATUS or jsonpath='{PATH}'=VALUE",
  );
}

function hasCondition(type: string, status: string): (object: unknown) => boolean {
  const isSame = (left: string | undefined, right: string) =>
    left?.toLowerCase() === right.toLowerCase();
  return (object) => {
    const found = (listAt(object, 'status', 'conditions') ?? []).find((each) =>
      isSame(textAt(each, 'type'), type),
    );
    // A condition of an older generation does not count.
    const seen = numberAt(found, 'observedGeneration');
    const generation = numberAt(object, 'metadata', 'generation');
    const isOld = seen !== undefined && generation !== undefined && seen < generation;
    return !isOld && isSame(textAt(found, 'status'), status);
  };
}

function hasValue(path: string, value: string | undefined): (object: unknown) => boolean {
  const steps = parseOnePath(path);
  return (object) => {
    const values = valuesAt(steps, object).filter((each) => each !== null);
    if (values.length > 1) {
      throw new UsageError(`given jsonpath expression matches more than one value: ${path}`);
    }
    const [found] = values;
    if (found === undefined) return false;
    return value === undefined || (typeof found !== 'object' && valueText(found) === value);
  };
}
