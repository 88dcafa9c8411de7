import { join } from 'node:path';
import { secretIfThere, tried } from '../../lib/state/state-folder.ts';
import { fieldAt, jsonValue, textAt } from '../../lib/std/json.ts';
import { CREDENTIAL_BYTES_MAX } from './limits.ts';

interface CredentialOptions<K extends string> {
  readonly name: string;
  /** What it must hold. */
  readonly fields: readonly K[];
  /** Whom it is to be shown to. */
  readonly servers: readonly URL[];
}

// elasticsearch-logs
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * What a person has put on the node to be shown to a server, so that it need not stand in a Diagnosis
 * where everybody reads it: <state directory>/credentials/<name>.json, that only root can read, with the
 * only addresses that may see it, whatever a Diagnosis says. Why it is not to be had, as words.
 */
export async function storedCredential<K extends string>(
  stateFolder: string,
  { name, fields, servers }: CredentialOptions<K>,
): Promise<Readonly<Record<K, string>> | string> {
  if (!NAME.test(name))
    return `"${name}" is no name of a credential: use "a" to "z", "0" to "9", "-"`;
  const path = join(stateFolder, 'credentials', `${name}.json`);
  const read = await tried((async () => secretIfThere(path, CREDENTIAL_BYTES_MAX))());
  if (!read.ok) return `the credential ${name} cannot be read: ${read.why}`;
  if (read.value === undefined)
    return `there is no credential ${name} on this node: nothing is at ${path}`;
  const value = jsonValue(read.value)?.value;
  const held = fields.flatMap((field) => {
    const text = textAt(value, field);
    return text ? [[field, text] as const] : [];
  });
  const addresses = fieldAt(value, 'addresses');
  if (held.length < fields.length || !isTexts(addresses)) {
    const names = fields.map((field) => `"${field}"`).join(', ');
    return `${path} is no credential: it must have ${names} and a list "addresses"`;
  }
  const mayKnow = addresses.flatMap((each) => URL.parse(each)?.origin ?? []);
  const other = servers.find(({ origin }) => !mayKnow.includes(origin));
  if (other === undefined) return Object.fromEntries(held) as Record<K, string>;
  return `refused: the credential ${name} is not for ${other.origin}; its file says for whom it is`;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
