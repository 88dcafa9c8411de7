import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../../lib/std/is-loopback.ts';
import type { WebRequest } from './answer.ts';
import { INTAKE_PATHS } from './intake-handler.ts';
import { StatusError } from './status-error.ts';

/** Who is let in. */
export interface Access {
  readonly token: string;
  /** For whoever sends alerts and reads the numbers, and needs no other right. */
  readonly intakeToken: string;
  /** Names by which this server may be called, beside those of the loopback. */
  readonly ownNames: readonly string[];
}

const INTAKE_OPENS: readonly string[] = [...INTAKE_PATHS, '/metrics'];

/**
 * Why a request is turned away, if it is. Beside the token, two things keep the pages of a browser
 * out, which runs on this machine too: a page of elsewhere says so in `Origin`, and one that got our
 * address under a name of its own (DNS rebinding) shows that name in `Host`.
 */
export function refusalAt(
  access: Access,
  { path, headers }: Pick<WebRequest, 'path' | 'headers'>,
): StatusError | undefined {
  const { host = '', origin, authorization } = headers;
  if (!isOwnName(nameIn(host), access)) {
    return new StatusError(
      'Forbidden',
      `this server is not called "${host}": call it by 127.0.0.1, localhost or its own name`,
    );
  }
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign || (origin !== undefined && !isSameOrigin(origin, host))) {
    return new StatusError(
      'Forbidden',
      `pages of ${origin ?? 'another site'} may not use this server: only its own may`,
    );
  }
  if (isTokenIn(authorization ?? '', access.token)) return undefined;
  if (isTokenIn(authorization ?? '', access.intakeToken)) {
    if (INTAKE_OPENS.includes(`/${path.join('/')}`)) return undefined;
    const words = `this token is for ${INTAKE_OPENS.join(', ')} alone`;
    return new StatusError('Forbidden', `${words}: the one in the file "token" opens all`);
  }
  return new StatusError(
    'Unauthorized',
    authorization === undefined
      ? 'no token was given: send "Authorization: Bearer TOKEN"; the token is in the file "token" of the state folder of `kubediag serve`'
      : 'the token is not that of this server: read it anew from the file "token" of the state folder of `kubediag serve`',
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

function isSameOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** As a bearer's, or as the password of a name that does not matter: some clients know only that. */
function isTokenIn(authorization: string, token: string): boolean {
  const [scheme = '', given = ''] = authorization.split(' ');
  if (/^bearer$/i.test(scheme)) return isSame(given, token);
  if (!/^basic$/i.test(scheme)) return false;
  const [, ...password] = Buffer.from(given, 'base64').toString().split(':');
  return isSame(password.join(':'), token);
}

/** In the same time, wherever they differ. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
