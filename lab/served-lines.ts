import { nameOption } from './settings.ts';

interface Served {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  /** The name or path by which the user runs this program. */
  readonly program: string;
}

/** How to reach the agent on a practice node. */
export function servedLines({ name, url, token, program }: Served): string {
  const of = nameOption(name);
  return [
    `The agent on PRACTICE NODE ${name} listens on ${url}`,
    `  token     in ${token}, readable by root only`,
    '',
    '  ask it    curl -H "Authorization: Bearer $(cat \\',
    `              ${token})" \\`,
    `              ${url}/apis/diagnosis.kubediag.org/v1/diagnoses`,
    `  or        ${program} lab run${of} -- kubediag get diagnoses`,
    `  break it  ${program} lab break${of} stale-subpath-mount`,
    `  check it  ${program} lab run${of} -- kubediag check`,
    '',
    'Press Ctrl-C to stop it. This machine itself is not changed.',
    '',
  ].join('\n');
}
