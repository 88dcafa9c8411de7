import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { secretIfThere, writeSynced } from '../../lib/state/state-folder.ts';
import { TOKEN_BYTES_MAX } from './limits.ts';

// R5k3mXnUj2e0m6JqJ1pQ0m1yq0b8X3YcZJm7cVb1d2E
const TOKEN = /^[\w-]{43}$/;

export interface OwnTokens {
  /** Opens all. */
  readonly token: string;
  readonly isNew: boolean;
  /** Takes alerts in, and shows numbers. */
  readonly intakeToken: string;
}

/** The tokens of this agent: made once, and kept for our eyes only. Throws when others can see them. */
export async function ownTokens(folder: string): Promise<OwnTokens> {
  const { token: intakeToken } = await ownToken(join(folder, 'intake-token'));
  return { ...(await ownToken(join(folder, 'token'))), intakeToken };
}

async function ownToken(
  path: string,
): Promise<{ readonly token: string; readonly isNew: boolean }> {
  const stored = secretIfThere(path, TOKEN_BYTES_MAX)?.trim() ?? '';
  if (TOKEN.test(stored)) return { token: stored, isNew: false };
  // Also in the place of one that a crash left half written.
  const token = randomBytes(32).toString('base64url');
  await writeSynced(path, `${token}\n`);
  return { token, isNew: true };
}
