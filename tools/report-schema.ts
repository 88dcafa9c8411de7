import { z } from 'zod';
import type { FaultReport, FindingReport, Report } from '../src/node/checkup/report.ts';
import type { Action } from '../src/node/model/action.ts';
import { FINDING_STATES } from '../src/node/model/finding.ts';

/**
 * The public JSON of a check, as a schema: docs/reference/report.schema.json is made from it. It is
 * written beside the type and not instead of it, so that a check needs no schema library. The
 * compiler holds the two to each other, both ways (the end of this file).
 */

/** Objects are known by the name of the interface that they follow; the descriptions are taken there. */
const named = <S extends z.ZodType>(id: string, schema: S) => schema.meta({ id });
const text = z.string();
const count = z.int().min(0);

const proof = named('Proof', z.object({ claim: text, text: text.exactOptional(), origin: text }));

const subject = named(
  'Subject',
  z.object({
    namespace: text.exactOptional(),
    pod: text.exactOptional(),
    podUid: text.exactOptional(),
    container: text.exactOptional(),
    volume: text.exactOptional(),
    mount: text.exactOptional(),
    path: text.exactOptional(),
  }),
);

const args = { confirmed: text.exactOptional(), seenGone: text.exactOptional() };
const mount = { ...args, id: count, parent: count, device: text, root: text, target: text };

const action = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('unmount'), ...mount }),
  z.object({ kind: z.literal('force-unmount'), ...mount, fsType: text, podUid: text }),
  z.object({ kind: z.literal('set-aside'), ...args, podUid: text, volume: text, inode: text }),
  z.object({
    kind: z.literal('remove-empty-directory'),
    ...args,
    podUid: text,
    plugin: text,
    leftovers: z.array(text),
  }),
  z.object({
    kind: z.literal('remove-container'),
    ...args,
    socket: text,
    container: text,
    sandbox: text,
    createdAt: text,
    name: text,
  }),
  z.object({
    kind: z.literal('restore-symlink'),
    ...args,
    path: z.literal('/bin'),
    target: z.literal('usr/bin'),
  }),
]);

const waitsFor = named('WaitsFor', z.object({ fault: text, finding: text, why: text }));

const step = named(
  'Step',
  z.union([
    z.object({ text, command: text.exactOptional() }),
    z.object({ text: z.never().exactOptional(), command: text }),
  ]),
);

const findingReport = named(
  'FindingReport',
  z.object({
    id: text,
    state: z.enum(FINDING_STATES),
    reason: text,
    summary: text,
    subject,
    proof: z.array(proof),
    blastRadius: text,
    excluded: z.array(text),
    alternatives: z.array(step),
    refusal: text.exactOptional(),
    prevention: z.array(text).exactOptional(),
    actions: z.array(action),
    waitsFor: z.array(waitsFor).exactOptional(),
  }),
);

const readFailure = z.enum([
  ...(['missing', 'denied', 'refused', 'timeout', 'not-asked', 'too-large'] as const),
  ...(['malformed', 'unsupported', 'exited', 'failed', 'not-recorded'] as const),
]);

const faultReport = named(
  'FaultReport',
  z.object({
    name: text,
    title: text,
    references: z.array(text),
    verdict: z.enum(['found', 'clear', 'unknown']),
    reason: text.exactOptional(),
    failures: z.array(readFailure).exactOptional(),
    findings: z.array(findingReport),
  }),
);

const nodeSummary = named(
  'NodeSummary',
  z.object({
    name: text,
    time: text,
    kubelet: z.object({
      presence: z.enum(['running', 'stopped', 'absent', 'unknown']),
      program: text.exactOptional(),
      version: text.exactOptional(),
      pid: count.exactOptional(),
      root: text.exactOptional(),
      notes: z.array(text).exactOptional(),
    }),
    runtime: z
      .object({ name: text, version: text, criVersion: text, socket: text })
      .exactOptional(),
    pods: count.exactOptional(),
    mounts: count.exactOptional(),
    tookMs: count,
  }),
);

const examinedFile = named(
  'ExaminedFile',
  z.object({ name: text, detectedAs: z.array(text), failure: text.exactOptional() }),
);

const missingReport = named(
  'MissingReport',
  z.object({ what: text, command: text, faults: z.array(text) }),
);

const examined = named(
  'Examined',
  z.object({ files: z.array(examinedFile), missing: z.array(missingReport) }),
);

export const reportSchema = named(
  'Report',
  z.object({
    apiVersion: z.literal('diagnosis.kubediag.org/v1'),
    kind: z.literal('Report'),
    node: nodeSummary,
    faults: z.array(faultReport),
    examined: examined.exactOptional(),
  }),
);

/** Only what JSON can distinguish: `readonly` is gone, and intersections are one object. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [K in keyof T]: Plain<T[K]> }
    : T;

/** The same type, also where mere assignability would let an optional field slip through. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

type Held<S extends z.ZodType, T> = Same<Plain<z.infer<S>>, Plain<T>>;

/**
 * Does not compile when a field is in one of the two only, or is not the same in both. The compiler
 * treats very deep types as equal without comparing them, so the deep ones are compared separately.
 */
export const isHeldToTheType: readonly [
  Held<typeof reportSchema, Report>,
  Held<typeof faultReport, FaultReport>,
  Held<typeof findingReport, FindingReport>,
  Held<typeof action, Action>,
] = [true, true, true, true];
