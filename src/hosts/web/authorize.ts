import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../../lib/std/is-loopback.ts';
import type { WebRequest } from './answer.ts';
import { INTAKE_PATHS } from './intake-handler.ts';
import { StatusError } from './status-error.ts';

/** Who may use the server. */
export interface Access {
  readonly token: string;
  /** Permits sending alerts and reading metrics only. */
  readonly intakeToken: string;
  /** Host names of this server, in addition to those of the loopback. */
  readonly ownNames: readonly string[];
}

const INTAKE_TOKEN_PATHS: readonly string[] = [...INTAKE_PATHS, '/metrics'];

/**
 * Why a request is rejected. Besides the token, two headers protect against web pages in a browser on
 * this machine: a foreign page has another `Origin`, and one that resolves its own name to our address
 * (DNS rebinding) has that name in `Host`.
 */
export function refusalAt(
  access: Access,
  { path, headers }: Pick<WebRequest, 'path' | 'headers'>,
): StatusError | undefined {
  const { host = '', origin, authorization } = headers;
  if (!isOwnName(nameIn(host), access)) {
    return new StatusError(
      'Forbidden',
      `host "${host}" is not a name of this server: use 127.0.0.1, localhost or its own name`,
    );
  }
  const ownOrigins = [`http://${host}`, `https://${host}`];
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign || (origin !== undefined && !ownOrigins.includes(origin))) {
    return new StatusError('Forbidden', `origin ${origin ?? 'of another site'} is not allowed`);
  }
  if (isTokenIn(authorization ?? '', access.token)) return undefined;
  if (isTokenIn(authorization ?? '', access.intakeToken)) {
    if (INTAKE_TOKEN_PATHS.includes(`/${path.join('/')}`)) return undefined;
    const text = `this token is for ${INTAKE_TOKEN_PATHS.join(', ')} only`;
    return new StatusError('Forbidden', `${text}: use the one in the file "token"`);
  }
  return new StatusError(
    'Unauthorized',
    authorization === undefined
      ? 'no token: send "Authorization: Bearer TOKEN" with the token in the file "token" of the state directory of `kubediag serve`'
      : 'wrong token: read it from the file "token" of the state directory of `kubediag serve`',
  );
}

// 127.0.0.1:8090, localhost, [::1]:8090
const HOST = /^(\[[\da-f:.]+\]|[^:/@[\]]+)(?::\d{1,5})?$/i;

function nameIn(host: string): string {
  return (HOST.exec(host)?.[1] ?? '').toLowerCase().replace(/^\[|\]$/g, '');
}

function isOwnName(name: string, { ownNames }: Access): boolean {
  if (isLoopback(name)) return true;
  return name !== '' && ownNames.some((own) => own.toLowerCase() === name);
}

/** As a bearer token, or as the password of any user for clients that support Basic only. */
function isTokenIn(authorization: string, token: string): boolean {
  const [scheme = '', given = ''] = authorization.split(' ');
  if (/^bearer$/i.test(scheme)) return isSame(given, token);
  if (!/^basic$/i.test(scheme)) return false;
  const [, ...password] = Buffer.from(given, 'base64').toString().split(':');
  return isSame(password.join(':'), token);
}

/** In constant time. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
