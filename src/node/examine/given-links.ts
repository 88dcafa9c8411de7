import type { MergedUsr } from '../evidence/deletions/merged-usr.ts';

// lrwxrwxrwx 1 root root 7 Jun  2  2021 /bin -> usr/bin
const LINK = /^l[rwx-]{9}.*\s(\/(?:bin|sbin|lib))\/? -> (\S+)\s*$/gm;

// drwxr-xr-x 2 root root 40960 Jun  2  2021 /usr/bin
const USR_BIN = /^d[rwxst-]{9}.*\s\/usr\/bin\/?\s*$/m;

// drwxr-xr-x 2 root root 4096 Jun  2  2021 /bin
const BIN_FOLDER = /^d[rwxst-]{9}.*\s\/bin\/?\s*$/m;

// ls: cannot access '/bin': No such file or directory
const BIN_GONE = /(?:cannot access|ls:) '?\/bin'?: No such file or directory/;

// usr/sbin, /usr/lib
const INTO_USR = /^\/?usr\/[^/]+\/?$/;

/** What `ls -ld /bin /sbin /lib /usr/bin` shows; undefined without /bin. */
export function givenLinks(text: string): MergedUsr | undefined {
  const links = new Map([...text.matchAll(LINK)].map(([, path = '', to = '']) => [path, to]));
  const target = links.get('/bin');
  const nothing = { hasUsrBin: false, siblings: [] };
  if (target !== undefined) return { bin: 'link', binTarget: target, ...nothing };
  if (BIN_FOLDER.test(text)) return { bin: 'folder', ...nothing };
  if (!BIN_GONE.test(text)) return undefined;
  const siblings = [...links].filter(([, to]) => INTO_USR.test(to));
  return {
    bin: 'gone',
    hasUsrBin: USR_BIN.test(text),
    siblings: siblings.map(([path, to]) => `${path} -> ${to}`),
  };
}
