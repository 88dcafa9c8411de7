import { resolve } from 'node:path';
import { placeOf } from '../evidence/mounts/mount-places.ts';
import { type MountTable, parseMountTable } from '../evidence/mounts/mount-table.ts';
import { attempt } from '../model/evidence.ts';
import type { NodeReader } from '../model/node-reader.ts';
import { TABLE_CACHED_MS, TABLES_CACHED_MAX } from './limits.ts';
import { type TracedCall, type TracedName, WORKING_FOLDER } from './traced-call.ts';

/** Which path of the node a caller meant. Nothing of that path is touched. */
export type NodePath =
  | { readonly known: true; readonly path: string; readonly seen: string }
  | { readonly known: false; readonly why: Unresolved; readonly seen: string | undefined };

/**
 * `gone`: the process ended before it could be asked. `elsewhere`: the node has no such path, the
 * caller sees a filesystem of its own, as every container does.
 */
export type Unresolved = 'gone' | 'elsewhere' | 'cut';

export interface NodeView {
  /** Whose view is the node's: our own, or the first process seen from a container. */
  readonly process: 'self' | '1';
  readonly mountNamespace: number | undefined;
  readonly rootDevice: string;
  readonly rootInode: string;
}

export async function nodeViewOf(node: NodeReader, hostRoot: string): Promise<NodeView> {
  const process = hostRoot === '/' ? 'self' : '1';
  const link = await attempt(node.ask('link', { path: `/proc/${process}/ns/mnt` }));
  const root = await node.ask('status', { path: '/' });
  return {
    process,
    mountNamespace: link.known ? numberIn(link.value) : undefined,
    rootDevice: root.device,
    rootInode: root.inode,
  };
}

/** 4026531832 of "mnt:[4026531832]" */
function numberIn(link: string): number {
  return Number(/\d+/.exec(link)?.[0]);
}

export class NodePaths {
  readonly #node: NodeReader;
  readonly #view: NodeView;
  readonly #tables = new Map<string, { readonly table: MountTable; readonly readMs: number }>();

  /** Namespaces without a process, and the time of the last search: a search walks over /proc. */
  readonly #gone = new Set<number>();
  #othersMs = Number.NEGATIVE_INFINITY;

  constructor(node: NodeReader, view: NodeView) {
    this.#node = node;
    this.#view = view;
  }

  /** The answer where nothing has to be asked, as for nearly every call on a node. */
  known(call: TracedCall, name: TracedName): NodePath | undefined {
    const { view } = call;
    const isAbsolute = name.name.startsWith('/');
    if (name.isCut || !view || view.mountNamespace !== this.#view.mountNamespace) return undefined;
    if (!isAbsolute && name.folder === undefined) return undefined;
    const hasOurRoot =
      view.rootDevice === this.#view.rootDevice && view.rootInode === this.#view.rootInode;
    if (isAbsolute && !hasOurRoot) return undefined;
    const seen = normal(isAbsolute ? name.name : `${name.folder}/${name.name}`);
    return { known: true, path: seen, seen };
  }

  async find(call: TracedCall, name: TracedName): Promise<NodePath> {
    const known = this.known(call, name);
    if (known) return known;
    const seen = await this.#seenBy(call, name);
    if (seen === undefined) return { known: false, why: 'gone', seen };
    if (name.isCut) return { known: false, why: 'cut', seen };
    const namespace = call.view?.mountNamespace ?? (await this.#namespaceOf(call.pid));
    if (namespace === undefined) return { known: false, why: 'gone', seen };
    if (namespace !== this.#view.mountNamespace) return this.#throughTables(call, namespace, seen);
    if (!name.name.startsWith('/')) return { known: true, path: seen, seen };
    const root = await this.#link(`/proc/${call.pid}/root`);
    if (root === undefined) return { known: false, why: 'gone', seen };
    return { known: true, path: normal(`${root}/${seen}`), seen };
  }

  /** The path in the caller's own view. */
  async #seenBy({ pid }: TracedCall, name: TracedName): Promise<string | undefined> {
    if (name.name.startsWith('/')) return normal(name.name);
    const by = name.descriptor === WORKING_FOLDER ? 'cwd' : `fd/${name.descriptor}`;
    const folder = name.folder ?? (await this.#link(`/proc/${pid}/${by}`));
    return folder === undefined ? undefined : normal(`${folder}/${name.name}`);
  }

  async #namespaceOf(pid: number): Promise<number | undefined> {
    const link = await this.#link(`/proc/${pid}/ns/mnt`);
    return link === undefined ? undefined : numberIn(link);
  }

  async #throughTables(call: TracedCall, namespace: number, seen: string): Promise<NodePath> {
    const theirs =
      (await this.#table(String(namespace), `/proc/${call.pid}/mountinfo`)) ??
      (await this.#tableOfOthers(namespace));
    const ours = await this.#table('node', `/proc/${this.#view.process}/mountinfo`);
    if (!theirs || !ours) return { known: false, why: 'gone', seen };
    const place = placeOf(seen, theirs);
    const path = place && pathOfPlace(place, ours);
    return path === undefined
      ? { known: false, why: 'elsewhere', seen }
      : { known: true, path, seen };
  }

  /** The caller is gone, but its parent is usually in the same namespace. */
  async #tableOfOthers(namespace: number): Promise<MountTable | undefined> {
    const nowMs = performance.now();
    if (nowMs - this.#othersMs < TABLE_CACHED_MS && this.#gone.has(namespace)) return undefined;
    if (nowMs - this.#othersMs >= TABLE_CACHED_MS) this.#gone.clear();
    this.#othersMs = nowMs;
    const all = await attempt(this.#node.ask('processes', { all: 'processes' }));
    const name = `mnt:[${namespace}]`;
    const other = all.known ? all.value.find((one) => one.mountNamespace === name) : undefined;
    const path = `/proc/${other?.pid}/mountinfo`;
    const table = other ? await this.#table(String(namespace), path) : undefined;
    if (!table) this.#gone.add(namespace);
    return table;
  }

  async #table(key: string, path: string): Promise<MountTable | undefined> {
    const nowMs = performance.now();
    const stored = this.#tables.get(key);
    if (stored && nowMs - stored.readMs < TABLE_CACHED_MS) return stored.table;
    const read = await attempt(this.#node.ask('file', { path }));
    // Without a process there is no table; the one that was read last is better than none.
    if (!read.known) return stored?.table;
    const parsed = await attempt((async () => parseMountTable(read.value, path))());
    if (!parsed.known) return stored?.table;
    if (this.#tables.size >= TABLES_CACHED_MAX) this.#tables.clear();
    this.#tables.set(key, { table: parsed.value, readMs: nowMs });
    return parsed.value;
  }

  async #link(path: string): Promise<string | undefined> {
    const link = await attempt(this.#node.ask('link', { path }));
    return link.known ? link.value : undefined;
  }
}

/** Where the node sees a place of a filesystem, if it does: not where something covers it. */
function pathOfPlace(
  place: { readonly device: string; readonly path: string },
  table: MountTable,
): string | undefined {
  for (const { device, root, target } of table.mounts) {
    const below = root === '/' ? place.path : belowOf(root, place.path);
    if (device !== place.device || below === undefined) continue;
    const path = normal(`${target}/${below}`);
    const there = placeOf(path, table);
    if (there?.device === place.device && there.path === place.path) return path;
  }
  return undefined;
}

function belowOf(folder: string, path: string): string | undefined {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length) : undefined;
}

/** Without "//", "." and "..". Links in it are not followed: that would touch them. */
export function normal(path: string): string {
  return resolve('/', path);
}
