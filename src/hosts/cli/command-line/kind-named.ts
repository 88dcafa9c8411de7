import { listAt, textAt } from '../../../lib/std/json.ts';
import { UsageError } from '../../../lib/terminal/terminal.ts';
import { API_VERSION, GROUP, type Kind, kinds, VERSION } from '../../../pipeline/api/kinds.ts';

/** Accepts diagnosis, diagnoses, diag, Diagnosis, diagnoses.diagnosis.kubediag.org. */
export function kindNamed(word: string): Kind {
  const found = findKind(word);
  if (found) return found;
  const known = kinds.map(({ plural, shortNames }) => `${plural} (${shortNames.join(', ')})`);
  throw new UsageError(
    `the server doesn't have a resource type "${word}"; there are ${known.join(', ')}`,
  );
}

export function isKind(word: string): boolean {
  return findKind(word) !== undefined;
}

function findKind(word: string): Kind | undefined {
  // diagnoses.diagnosis.kubediag.org, diagnoses.v1.diagnosis.kubediag.org
  const name = word.toLowerCase().replace(new RegExp(`(\\.${VERSION})?\\.${GROUP}$`), '');
  return kinds.find(
    ({ kind, plural, shortNames }) =>
      kind.toLowerCase() === name || plural === name || shortNames.includes(name),
  );
}

/** One, several with commas between them, or "all". */
export function kindsNamed(text: string): readonly Kind[] {
  const named = text.split(',').flatMap((word) => (word === 'all' ? kinds : [kindNamed(word)]));
  return [...new Set(named)];
}

/** "diagnosis.diagnosis.kubediag.org/web", as kubectl prints a name. */
export function fullName({ kind }: Pick<Kind, 'kind'>, name: string): string {
  return `${kind.toLowerCase()}.${GROUP}/${name}`;
}

/** The API path of a kind or an object; without a namespace, of all namespaces. */
export function pathOf(
  { plural, scope }: Pick<Kind, 'plural' | 'scope'>,
  namespace: string | undefined,
  name?: string,
): string {
  const isNamespaced = scope === 'Namespaced' && namespace !== undefined;
  const namespacePath = isNamespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const one = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `/apis/${API_VERSION}${namespacePath}/${plural}${one}`;
}

// /var/lib/kubediag/collected/go-profiles/20261115T102233123Z-3f9a-heap.pprof
const COLLECTED = /^\/[^\s]{0,4096}?(\/collected\/[a-z-]+\/\d{8}T\d{9}Z-[\w.-]+)\n?$/;

/** Where the agent serves a result that the Diagnosis only names: a collected file or a large value. */
export function storedResultPath(diagnosis: unknown, key: string): string | undefined {
  const large = listAt(diagnosis, 'status', 'largeResults') ?? [];
  const file = large.find((each) => textAt(each, 'key') === key);
  if (file) return `/results/${textAt(diagnosis, 'metadata', 'uid')}/${textAt(file, 'file')}`;
  return COLLECTED.exec(textAt(diagnosis, 'status', 'operationResults', key) ?? '')?.[1];
}
