/**
 * The hands: one method for each primitive deed. Only perform.ts and the handlers use it, and
 * nothing outside this room may import it but the host that chooses which one.
 */
export interface NodeWriter {
  /** Why it could not unmount in the mount namespace of this process; undefined when it could. */
  cannotUnmount(namespaceOf: number): Promise<string | undefined>;
  /** One plain unmount in the mount namespace of this process: never forced, never lazy. */
  unmount(target: string, namespaceOf: number): Promise<Deed>;
}

/** What a deed says of itself. It is believed only after looking. */
export type Deed =
  | { readonly state: 'did' }
  | { readonly state: 'busy' | 'failed'; readonly why: string }
  | { readonly state: 'unending'; readonly why: string };
