import { processors } from '../../src/pipeline/operations/catalogue.ts';
import type { OwnProcessor } from '../../src/pipeline/operations/processor-host.ts';
import { code } from './markdown.ts';

/** docs/reference/operations.md: the built-in Operations. */
export function operationsPage(): string {
  return [
    '# Built-in Operations\n',
    'A graph may name these without a manifest, and a manifest may name their path. Inputs are keys of',
    '`spec.parameters` and of the results of earlier steps; outputs are keys of `status.operationResults`.',
    'All values are strings. `kubediag operations` lists them too. `kubediag fetch` downloads a result that',
    'is the path of a file.\n',
    ...processors.map(part),
  ].join('\n');
}

/** With a podReference. */
const FOR_POD: Readonly<Record<OwnProcessor['forPod'], string>> = {
  limited: 'limited to that pod',
  refused: 'refused',
};

function part(processor: OwnProcessor): string {
  const {
    operation,
    path,
    does,
    details,
    repairs,
    reads,
    readsElse,
    mayRead = [],
    writes,
  } = processor;
  const sentence = `${does.charAt(0).toUpperCase()}${does.slice(1)}${repairs ? '; asks first' : ''}.`;
  return [
    `## ${code(operation)}\n`,
    `${sentence}${details === undefined ? '' : ` ${details}`}\n`,
    `- path: ${code(path)}`,
    `- required inputs: ${keys(reads) || 'none'}${readsElse ? `; or ${keys(readsElse)}` : ''}`,
    ...(mayRead.length > 0 ? [`- optional inputs: ${keys(mayRead)}`] : []),
    `- outputs: ${keys(writes)}`,
    `- for a pod on a cluster: ${FOR_POD[processor.forPod]}`,
    ...Object.entries(processor.unused ?? {}).map(
      ([key, why]) => `- no effect: ${code(key)}: ${why}`,
    ),
    '',
  ].join('\n');
}

function keys(names: readonly string[]): string {
  return names.map(code).join(', ');
}
