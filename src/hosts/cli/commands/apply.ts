import { isDeepStrictEqual } from 'node:util';
import { fieldsIn } from '../../../lib/state/state-folder.ts';
import { fieldAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { isMeantForUs } from '../../../pipeline/api/check-resource.ts';
import { API_VERSION, GROUP, type Kind, kinds } from '../../../pipeline/api/kinds.ts';
import { placeText } from '../../../pipeline/api/problem.ts';
import type { FieldValidation } from '../../../pipeline/api/unknown-fields.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import {
  connectAgent,
  failAt,
  type GivenPlace,
  isGranted,
  isGrantedFor,
} from '../agent-client/agent-error.ts';
import { applyPatch, LAST_APPLIED } from '../agent-client/apply-patch.ts';
import { fullName, pathOf } from '../command-line/kind-named.ts';
import {
  type AgentOptions,
  type DryRunMode,
  type ManifestOptions,
  VALIDATE_MODES,
  type ValidateMode,
} from '../command-line/shared-options.ts';
import { checkObject } from '../manifests/lint-manifests.ts';
import { manifestsGiven } from '../manifests/manifests-given.ts';
import { parseManifests } from '../manifests/parse-manifests.ts';

export interface ApplyOptions extends AgentOptions, ManifestOptions {
  readonly validate?: ValidateMode;
  readonly dryRun?: DryRunMode;
}

export async function apply(options: ApplyOptions, terminal: Terminal): Promise<number> {
  const objects = await objectsGiven(options, terminal);
  if (objects.length === 0) {
    throw new UsageError(`nothing to apply: no resource of ${GROUP} in the files`);
  }
  const client = await connectAgent(options, terminal);
  if (!client) return EXIT.notDone;
  let isDone = true;
  for (const given of objects) {
    isDone = (await applyOne(given, options, client, terminal)) && isDone;
  }
  return isDone ? EXIT.clear : EXIT.notDone;
}

interface GivenObject extends GivenPlace {
  readonly kind: Kind;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The objects of our API group in these files. Others are ignored with a message. */
export async function objectsGiven(
  options: ManifestOptions,
  terminal: Terminal,
): Promise<readonly GivenObject[]> {
  const files = await manifestsGiven(options);
  return files.flatMap(({ name: file, text }) => {
    const { objects, errors } = parseManifests(text);
    if (errors.length > 0) {
      const lines = errors.map(({ line, message }) => `${file}:${line}: ${message}: correct it`);
      throw new UsageError(`nothing was done\n${lines.join('\n')}`);
    }
    return objects.flatMap(({ value, lineOf }) => {
      const name = textAt(value, 'kind') ?? '';
      const apiVersion = textAt(value, 'apiVersion') ?? '';
      if (isMeantForUs(apiVersion)) {
        const kind = kinds.find((each) => each.kind === name);
        if (!kind || apiVersion !== API_VERSION) throw unknownKind({ file, lineOf }, value);
        return [{ kind, value: value as GivenObject['value'], file, lineOf }];
      }
      const place = `${file}:${lineOf([])}`;
      const other = `${place}: ${name || 'object'}: not a resource of ${GROUP}, ignored`;
      terminal.err(`${printable(other)}\n`);
      return [];
    });
  });
}

function unknownKind({ file, lineOf }: GivenPlace, value: unknown): UsageError {
  const { problems } = checkObject(value, 'Strict');
  const lines = problems.map(({ place, what, fix }) => {
    return `${file}:${lineOf(place)}: ${placeText(place)}: ${what}: ${fix}`;
  });
  return new UsageError(`nothing was done\n${lines.join('\n')}`);
}

/** How kubectl marks what it would have done. */
const DRY_RUN_MARKS: Readonly<Record<DryRunMode, string>> = {
  none: '',
  client: ' (dry run)',
  server: ' (server dry run)',
};

async function applyOne(
  given: GivenObject,
  { namespace, dryRun = 'none', validate = 'strict' }: ApplyOptions,
  client: AgentClient,
  terminal: Terminal,
): Promise<boolean> {
  const { kind, value } = given;
  const validation = VALIDATE_MODES[validate];
  if (dryRun === 'client' && !isRightHere(given, validation, terminal)) return false;
  const place = textAt(value, 'metadata', 'namespace') ?? namespace;
  const name = textAt(value, 'metadata', 'name');
  const report = (done: string, called: string) => {
    terminal.out(`${printable(fullName(kind, called))} ${done}${DRY_RUN_MARKS[dryRun]}\n`);
    return true;
  };
  const wanted = withLastApplied(value);
  const query = `?fieldValidation=${validation}${dryRun === 'server' ? '&dryRun=All' : ''}`;
  const create = async () => {
    if (dryRun === 'client') {
      return report('created', name ?? textAt(value, 'metadata', 'generateName') ?? '');
    }
    const created = await client.ask('POST', `${pathOf(kind, place)}${query}`, { body: wanted });
    if (!isGrantedFor(given, created, terminal)) return false;
    return report('created', textAt(created.value, 'metadata', 'name') ?? '');
  };
  if (name === undefined) return create();
  const path = pathOf(kind, place, name);
  const before = await client.ask('GET', path);
  if ('code' in before && before.code === 404) return create();
  if (!isGranted(before, terminal)) return false;
  if (dryRun === 'client') return report('configured', name);
  const last = textAt(before.value, 'metadata', 'annotations', LAST_APPLIED);
  const patch = {
    body: applyPatch(fieldsIn(last ?? ''), wanted),
    type: 'application/merge-patch+json',
  };
  const after = await client.ask('PATCH', `${path}${query}`, patch);
  if (!isGrantedFor(given, after, terminal)) return false;
  return report(isSame(before.value, after.value, dryRun) ? 'unchanged' : 'configured', name);
}

/** A dry run stores no new version, so the objects themselves are compared. */
function isSame(before: unknown, after: unknown, dryRun: DryRunMode): boolean {
  if (dryRun === 'server') return isDeepStrictEqual(before, after);
  const version = (object: unknown) => fieldAt(object, 'metadata', 'resourceVersion');
  return version(before) === version(after);
}

/** Prints what `kubediag lint` finds in this object. */
function isRightHere(given: GivenObject, validation: FieldValidation, terminal: Terminal): boolean {
  const { problems } = checkObject(given.value, validation);
  for (const { severity, place, what, fix } of problems) {
    const head = severity === 'problem' ? 'error: ' : 'Warning: ';
    const text = [placeText(place), what, fix].filter((each) => each !== '').join(': ');
    failAt(given, head, place, text, terminal);
  }
  return problems.every(({ severity }) => severity === 'note');
}

/** Adds kubectl's annotation, and drops a status: it belongs to the server. */
function withLastApplied(value: GivenObject['value']): object {
  const { status: _, ...rest } = value;
  const text = `${JSON.stringify(rest)}\n`;
  const metadata = fieldAt(rest, 'metadata') as object;
  const annotations = { ...(fieldAt(metadata, 'annotations') as object), [LAST_APPLIED]: text };
  return { ...rest, metadata: { ...metadata, annotations } };
}
