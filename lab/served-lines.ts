/** How a practice node that is served can be reached, for a person. */
export function servedLines({
  name,
  url,
  token,
  program,
}: {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  /** By which word this program is started here. */
  readonly program: string;
}): string {
  const of = name === 'practice' ? '' : ` --name ${name}`;
  return [
    `PRACTICE NODE ${name} is served on ${url}`,
    `  token     in ${token}, for root alone`,
    '',
    '  ask it    curl -H "Authorization: Bearer $(cat \\',
    `              ${token})" \\`,
    `              ${url}/apis/diagnosis.kubediag.org/v1/diagnoses`,
    `  or        ${program} lab run${of} -- kubediag get diagnoses`,
    `  break it  ${program} lab break${of} stale-subpath-mount`,
    `  check it  ${program} lab run${of} -- kubediag check`,
    '',
    'Ctrl-C ends it. Nothing of this machine is touched.',
    '',
  ].join('\n');
}
