/** The digits of an id that crictl shows. */
const SHORT_ID_CHARACTERS = 13;

/** "4f0c2a9e1b7d8" of the 64 digits of a container or a sandbox. */
export function shortId(id: string): string {
  return id.slice(0, SHORT_ID_CHARACTERS);
}
