import type { Removal, RemovalJob } from './removal.ts';

/**
 * The hands: one method for each primitive deed. Only perform.ts and the handlers use it, and
 * nothing outside this room may import it but the host that chooses which one.
 */
export interface NodeWriter {
  /** Why it could not unmount in the mount namespace of this process; undefined when it could. */
  cannotUnmount(namespaceOf: number): Promise<string | undefined>;
  /** One plain unmount in the mount namespace of this process: never forced, never lazy. */
  unmount(target: string, namespaceOf: number): Promise<Deed>;
  /** One forced unmount there: it ends all requests to that filesystem, and may then be "busy". */
  forceUnmount(target: string, namespaceOf: number): Promise<Deed>;
  /** Ends all requests to the server of a FUSE mount, through the kernel's control filesystem. */
  abortFuse(connection: string, namespaceOf: number): Promise<Deed>;
  /** Removes one empty folder there, and never what is in one. */
  removeEmptyFolder(path: string, namespaceOf: number): Promise<Deed>;
  /**
   * Gives a file its second name and takes the first away, so that it is never copied and never
   * replaces anything; `isKept` when it has the second name already.
   */
  setAside(from: string, to: string, namespaceOf: number, isKept: boolean): Promise<Deed>;
  /** Why it could not remove left-over folders; undefined when it could. */
  cannotRemoveFolders(): string | undefined;
  /** Removes empty folders, each pinned by its inode, in a child that can be left behind. */
  removeFolders(job: RemovalJob): Promise<Removal>;
  /** Why it could neither command the runtime nor write at the root; undefined when it could. */
  cannotCommand(): string | undefined;
  /** Removes a container by force, in one call to the runtime; one that is gone is no failure. */
  removeContainer(socket: string, id: string): Promise<Deed>;
  /** Stops and removes a sandbox, and whatever is in it: look first. */
  removeSandbox(socket: string, id: string): Promise<Deed>;
  /** Makes a link at the root of the node; what is there already is never replaced. */
  makeLink(path: '/bin', target: 'usr/bin'): Promise<Deed>;
}

/** What a deed says of itself. It is believed only after looking. */
export type Deed =
  | { readonly state: 'did' }
  | { readonly state: 'busy' | 'failed'; readonly why: string }
  | { readonly state: 'unending'; readonly why: string };
