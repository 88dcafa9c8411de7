import { join } from 'node:path';
import { jsonValue } from '../evidence/text-value.ts';
import { textIfThere } from '../state/state-folder.ts';
import { fieldAt, textAt } from '../std/json.ts';
import { CREDENTIAL_BYTES_MAX } from './limits.ts';

export interface KeptCredential {
  readonly username: string;
  readonly password: string;
  /** The only servers that it is shown to, whatever a Diagnosis says. */
  readonly addresses: readonly string[];
}

// elasticsearch-logs
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * A user and a password that a person has put on the node, so that they need not stand in a Diagnosis
 * where everybody reads them: <state folder>/credentials/<name>.json, with the addresses that may see
 * them. Why there is none, as words. Throws when the disk does.
 */
export function keptCredential(stateFolder: string, name: string): KeptCredential | string {
  if (!NAME.test(name))
    return `"${name}" is no name of a credential: use "a" to "z", "0" to "9", "-"`;
  const path = join(stateFolder, 'credentials', `${name}.json`);
  const text = textIfThere(path, CREDENTIAL_BYTES_MAX);
  if (text === undefined)
    return `there is no credential ${name} on this node: nothing is at ${path}`;
  const value = jsonValue(text)?.value;
  const username = textAt(value, 'username');
  const password = textAt(value, 'password');
  const addresses = fieldAt(value, 'addresses');
  if (!username || !password || !isTexts(addresses)) {
    return `${path} is no credential: it must have "username", "password" and a list "addresses"`;
  }
  return { username, password, addresses };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
