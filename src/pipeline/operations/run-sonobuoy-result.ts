import { join, resolve } from 'node:path';
import { textIfThere } from '../../lib/state/state-folder.ts';
import { listAt, textAt } from '../../lib/std/json.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { yamlValue } from '../../node/evidence/text/yaml-value.ts';
import { failedWith, refusedWith } from '../steps/operation-result.ts';
import { E2E_BYTES_MAX } from './limits.ts';
import type { OwnProcessor } from './processor-host.ts';

const FOLDER = 'sonobuoy_result_diagnoser.temporary_result_directory';
const FILE = 'sonobuoy_result_diagnoser.e2e_file';
const SUMMARY = 'sonobuoy_result_diagnoser.summary';
const RESULT_FOLDER = 'sonobuoy_result_diagnoser.result_directory';

export const sonobuoyResultDiagnoser: OwnProcessor = {
  path: '/processor/sonobuoyResultDiagnoser',
  operation: 'sonobuoy-result-diagnoser',
  does: 'summarizes the results of Sonobuoy',
  details:
    'Only results below `sonobuoy` of the state directory (`/var/lib/kubediag/sonobuoy`) are read. No ' +
    'file is moved: `result_directory` is the directory as given. The summary groups the tests that were ' +
    'not skipped by the first word in brackets of their names.',
  reads: [FOLDER, FILE],
  writes: [SUMMARY, RESULT_FOLDER],
  repairs: false,
  forPod: 'refused',
  /** A graph may select among the results in that directory, and can read nothing else through us. */
  async run({ [FOLDER]: folder, [FILE]: file }, { stateFolder }) {
    if (!folder) return failedWith(`this step needs ${FOLDER}: where the results are`);
    if (!file) return failedWith(`this step needs ${FILE}: the name of the file with the results`);
    const home = join(stateFolder, 'sonobuoy');
    const place = resolve(home, folder);
    const path = resolve(place, file);
    const isBelow = (each: string, above: string) => each.startsWith(`${above}/`);
    if (!isBelow(place, home) || !isBelow(path, place)) {
      return refusedWith(`only results below ${home} are read: let Sonobuoy write them there`);
    }
    const text = textOrWhy(path);
    if ('why' in text) return failedWith(text.why);
    const read = yamlValue(text.text, E2E_BYTES_MAX);
    if (!read || typeof read.value !== 'object')
      return failedWith(`${path}: it is no YAML of results`);
    const summary = JSON.stringify(summaryOf(read.value));
    return { succeeded: true, results: { [SUMMARY]: summary, [RESULT_FOLDER]: place } };
  },
};

function textOrWhy(path: string): { readonly text: string } | { readonly why: string } {
  try {
    const text = textIfThere(path, E2E_BYTES_MAX);
    return text === undefined ? { why: `there are no results: nothing is at ${path}` } : { text };
  } catch (error) {
    return { why: messageOf(error) };
  }
}

interface Category {
  readonly category_name: string;
  readonly status_counts: Record<string, number>;
  readonly items: { readonly name: string; readonly status: string }[];
}

/** By the first word in brackets of their names, in the order in which they come. */
function summaryOf(tree: unknown): readonly Category[] {
  const categories = new Map<string, Category>();
  for (const leaf of leavesOf(tree)) {
    const name = textAt(leaf, 'name') ?? '';
    const status = textAt(leaf, 'status') ?? '';
    if (status === 'skipped') continue;
    // [sig-apps] Deployment should run the lifecycle of a Deployment
    const label = /^\[[^\]]*\]/.exec(name)?.[0] ?? 'other';
    const category = categories.get(label) ?? {
      category_name: label,
      status_counts: Object.create(null) as Record<string, number>,
      items: [],
    };
    category.status_counts[status] = (category.status_counts[status] ?? 0) + 1;
    category.items.push({ name, status });
    categories.set(label, category);
  }
  return [...categories.values()];
}

/** With a list of what is left, not by calls: no text can nest them deeper than we can go. */
function leavesOf(tree: unknown): readonly unknown[] {
  const leaves: unknown[] = [];
  const left: unknown[] = [tree];
  while (left.length > 0) {
    const item = left.pop();
    const items = listAt(item, 'items') ?? [];
    if (items.length === 0) leaves.push(item);
    left.push(...items.toReversed());
  }
  return leaves;
}
