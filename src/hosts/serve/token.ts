import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { secretIfThere, writeSynced } from '../../lib/state/state-folder.ts';
import { TOKEN_BYTES_MAX } from './limits.ts';

// R5k3mXnUj2e0m6JqJ1pQ0m1yq0b8X3YcZJm7cVb1d2E
const TOKEN = /^[\w-]{43}$/;

export interface OwnTokens {
  /** Permits everything. */
  readonly token: string;
  readonly isNew: boolean;
  /** Permits sending alerts and reading metrics. */
  readonly intakeToken: string;
}

/** The tokens of this agent, created once and readable by root only. Throws if others can read them. */
export async function ownTokens(folder: string): Promise<OwnTokens> {
  const { token: intakeToken } = await ownToken(join(folder, 'intake-token'));
  return { ...(await ownToken(join(folder, 'token'))), intakeToken };
}

async function ownToken(
  path: string,
): Promise<{ readonly token: string; readonly isNew: boolean }> {
  const stored = secretIfThere(path, TOKEN_BYTES_MAX)?.trim() ?? '';
  if (TOKEN.test(stored)) return { token: stored, isNew: false };
  // This also replaces a token that a crash left incomplete.
  const token = randomBytes(32).toString('base64url');
  await writeSynced(path, `${token}\n`);
  return { token, isNew: true };
}
