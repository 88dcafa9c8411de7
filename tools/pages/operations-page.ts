import type { OwnProcessor } from '../../src/pipeline/operations/own-processor.ts';
import { processors } from '../../src/pipeline/operations/processors.ts';
import { code } from './markdown.ts';

/** docs/reference/operations.md: what of ours a graph may name. */
export function operationsPage(): string {
  return [
    '# Operations of our own\n',
    'A graph may name these without a manifest of them, and a manifest may name their path. What they',
    'read are keys of `spec.parameters` and of the results of earlier steps; what they write are keys of',
    '`status.operationResults`. All values are texts. `kubediag operations` lists them too. A result that is',
    'the path of a file is brought to you by `kubediag fetch`.\n',
    ...processors.map(part),
  ].join('\n');
}

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
  const sentence = `${does.charAt(0).toUpperCase()}${does.slice(1)}${repairs ? '; asks before' : ''}.`;
  return [
    `## ${code(operation)}\n`,
    `${sentence}${details === undefined ? '' : ` ${details}`}\n`,
    `- path: ${code(path)}`,
    `- must be told: ${keys(reads) || 'nothing'}${readsElse ? `; or else ${keys(readsElse)}` : ''}`,
    ...(mayRead.length > 0 ? [`- may be told: ${keys(mayRead)}`] : []),
    `- writes: ${keys(writes)}`,
    ...Object.entries(processor.unused ?? {}).map(
      ([key, why]) => `- not used: ${code(key)}, for ${why}`,
    ),
    '',
  ].join('\n');
}

function keys(names: readonly string[]): string {
  return names.map(code).join(', ');
}
