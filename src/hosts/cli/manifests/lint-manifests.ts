import { isNearly } from '../../../lib/std/is-nearly.ts';
import { textAt } from '../../../lib/std/json.ts';
import {
  checkResource,
  isMeantForUs,
  type Resource,
} from '../../../pipeline/api/check-resource.ts';
import {
  note,
  type Place,
  type Problem,
  placeText,
  problem,
} from '../../../pipeline/api/problem.ts';
import type { FieldValidation } from '../../../pipeline/api/unknown-fields.ts';
import { checkGraph } from '../../../pipeline/graph/check-graph.ts';
import { problemsOfTargets } from '../../../pipeline/graph/left-out.ts';
import { ownOperationSets, processors } from '../../../pipeline/operations/catalogue.ts';
import { sharedVariables, variableOf } from '../../../pipeline/operations/script-environment.ts';
import { withoutEffect } from '../../../pipeline/operations/without-effect.ts';
import { checkPatterns } from '../../../pipeline/triggers/matcher.ts';
import { UNSUPPORTED_SOURCES } from '../../../pipeline/triggers/trigger-event.ts';
import { type ManifestObject, parseManifests } from './parse-manifests.ts';

/** A problem with its file, line and resource. */
export interface LintProblem {
  readonly severity: 'problem' | 'note';
  readonly file: string;
  readonly line: number;
  /** "OperationSet subpath-remount"; absent when the text is not a resource. */
  readonly resource?: string;
  readonly place?: string;
  readonly what: string;
  readonly fix: string;
}

export interface LintReport {
  readonly files: number;
  /** Objects of our API group. */
  readonly resources: number;
  readonly problems: readonly LintProblem[];
}

interface Given {
  readonly file: string;
  readonly object: ManifestObject;
  readonly resource?: Resource;
  readonly problems: readonly Problem[];
}

/** Checks all manifests together: an OperationSet in one may name Operations in another. */
export function lintManifests(
  files: readonly { readonly name: string; readonly text: string }[],
  validation: FieldValidation = 'Strict',
): LintReport {
  const problems: LintProblem[] = [];
  const given: Given[] = [];
  for (const { name: file, text } of files) {
    const { objects, errors } = parseManifests(text);
    for (const { line, message } of errors) {
      const fix = 'correct the YAML, or split it into several files';
      problems.push({ severity: 'problem', file, line, what: message, fix });
    }
    for (const object of objects) {
      if (isOurs(object.value))
        given.push({ file, object, ...checkObject(object.value, validation) });
    }
  }
  problems.push(
    ...given.flatMap((each) => each.problems.map((one) => report(each, one))),
    ...duplicates(given),
    ...missingNames(given),
  );
  return {
    files: files.length,
    resources: given.length,
    problems: problems.toSorted(
      (left, right) => fileAt(files, left) - fileAt(files, right) || left.line - right.line,
    ),
  };
}

function fileAt(files: readonly { readonly name: string }[], { file }: LintProblem): number {
  return files.findIndex(({ name }) => name === file);
}

/** An object without an API version may be meant for our group. */
function isOurs(value: unknown): boolean {
  const apiVersion = textAt(value, 'apiVersion');
  if (apiVersion === undefined) return true;
  return isMeantForUs(apiVersion) || apiVersion.startsWith('diagnosis.netease.');
}

/** Checks one object without the others. */
export function checkObject(
  value: unknown,
  validation: FieldValidation,
): Pick<Given, 'resource' | 'problems'> {
  const { resource, problems } = checkResource(value, validation);
  if (!resource) return { problems };
  return {
    resource,
    problems: [
      ...problems,
      ...beyondSchema(resource),
      ...withoutEffect(resource),
      ...notesOnScripts(resource),
    ],
  };
}

/** What the schema does not show, and what is valid but without effect on a single node. */
function beyondSchema(resource: Resource): readonly Problem[] {
  switch (resource.kind) {
    case 'OperationSet':
      return checkGraph(resource.spec.adjacencyList);
    case 'Trigger': {
      const sources = Object.keys(resource.spec.sourceTemplate);
      return [...checkPatterns(resource.spec), ...unsupported(sources)];
    }
    case 'Diagnosis':
      return problemsOfTargets(resource.spec);
    default:
      return [];
  }
}

function notesOnScripts(resource: Resource): readonly Problem[] {
  if (resource.kind === 'Operation') {
    const { argKeys = [] } = resource.spec.processor.scriptRunner ?? {};
    if (argKeys.length === 0) return [];
    const what =
      'every user of the node can read arguments while the script runs (/proc/PID/cmdline)';
    const fix = `read secrets from the environment instead: ${variableOf(argKeys[0] ?? '')}`;
    return [note(['spec', 'processor', 'scriptRunner', 'argKeys'], what, fix)];
  }
  if (resource.kind !== 'Diagnosis') return [];
  return sharedVariables(Object.keys(resource.spec.parameters ?? {})).map((keys) => {
    const [first = ''] = keys;
    const what = `${keys.join(', ')} map to the same variable ${variableOf(first)}, so a script gets none of them`;
    const fix = 'rename all but one, or let the script read KUBEDIAG_PARAMETERS';
    return note(['spec', 'parameters', first], what, fix);
  });
}

function unsupported(sources: readonly string[]): readonly Problem[] {
  const what =
    'no Diagnosis is created from this source on a node: `kubediag serve` does not watch it';
  const fix = 'use an alert (prometheusAlertTemplate) or a common event instead';
  return sources
    .filter((source) => UNSUPPORTED_SOURCES.includes(source))
    .map((source) => note(['spec', 'sourceTemplate', source], what, fix));
}

function report({ file, object }: Given, { severity, place, what, fix }: Problem): LintProblem {
  const names = [textAt(object.value, 'kind'), textAt(object.value, 'metadata', 'name')];
  const who = names.filter((word) => word !== undefined).join(' ');
  return {
    severity,
    file,
    line: object.lineOf(place),
    ...(who === '' ? {} : { resource: who }),
    ...(place.length === 0 ? {} : { place: placeText(place) }),
    what,
    fix,
  };
}

/** Of two objects with the same name, the one applied last would silently replace the other. */
function duplicates(given: readonly Given[]): readonly LintProblem[] {
  const first = new Map<string, Given>();
  return given.flatMap((each) => {
    const { kind, metadata } = each.resource ?? {};
    if (!kind || metadata?.name === undefined) return [];
    const key = [kind, metadata.namespace ?? '', metadata.name].join('/');
    const before = first.get(key);
    if (!before) {
      first.set(key, each);
      return [];
    }
    const what = `duplicate ${kind} ${metadata.name}: also in ${before.file}:${before.object.lineOf([])}`;
    const fix = 'give one of them another name, or remove it';
    return [report(each, problem(['metadata', 'name'], what, fix))];
  });
}

const OWN: readonly string[] = [
  ...processors.map(({ operation }) => `Operation ${operation}`),
  ...ownOperationSets.map(({ name }) => `OperationSet ${name}`),
];

/** A name that is neither built in nor in these files may exist in the cluster, so it is a note only. */
function missingNames(given: readonly Given[]): readonly LintProblem[] {
  const known = new Set(OWN);
  for (const { object } of given) {
    known.add(`${textAt(object.value, 'kind')} ${textAt(object.value, 'metadata', 'name')}`);
  }
  const named = given.flatMap((each) =>
    namesIn(each.resource).map((one) => ({ each, one, key: `${one.kind} ${one.name}` })),
  );
  const unknown = Map.groupBy(
    named.filter(({ key }) => !known.has(key)),
    ({ key }) => key,
  );
  return [...unknown].flatMap(([key, [first, ...others]]) => {
    if (!first) return [];
    const { each, one } = first;
    const more = others.length > 0 ? `; it is used in ${others.length + 1} places` : '';
    const what = `${one.kind} "${one.name}" is neither built in nor in the given files${more}`;
    const near = [...known].find((name) => isNearly(name, key));
    const meant =
      near === undefined ? '' : `did you mean "${near.slice(one.kind.length + 1)}"? Otherwise `;
    const fix = `${meant}pass its file too, or make sure that it is applied already`;
    return [report(each, note(one.place, what, fix))];
  });
}

interface NamedObject {
  readonly kind: 'Operation' | 'OperationSet';
  readonly name: string;
  readonly place: Place;
}

function namesIn(resource: Resource | undefined): readonly NamedObject[] {
  switch (resource?.kind) {
    case 'OperationSet':
      return resource.spec.adjacencyList.flatMap(({ operation }, index) => {
        const place = ['spec', 'adjacencyList', index, 'operation'];
        return operation && index > 0
          ? [{ kind: 'Operation' as const, name: operation, place }]
          : [];
      });
    case 'Diagnosis':
    case 'Trigger': {
      const { operationSet: name } = resource.spec;
      return [{ kind: 'OperationSet', name, place: ['spec', 'operationSet'] }];
    }
    default:
      return [];
  }
}
