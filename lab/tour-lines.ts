import type { Terminal } from '../src/lib/terminal/terminal.ts';
import { wrapQuote, wrapText } from '../src/lib/terminal/wrap.ts';
import type { Habit } from './breaks/kubelet-habits.ts';
import type { LabSettings } from './settings.ts';

type Screen = Pick<Terminal, 'width' | 'style'>;

/** The first screen: it says that this is a practice node, and what is real on it. */
export function introLines(
  { name, kubelet, runtime }: LabSettings,
  faults: number,
  screen: Screen,
): string {
  const whose = {
    kubelet:
      kubelet.kind === 'real'
        ? `a real kubelet ${kubelet.version}`
        : `a stand-in for kubelet ${kubelet.version}`,
    runtime:
      runtime.kind === 'containerd' ? 'a real containerd' : 'a stand-in for a container runtime',
  };
  const text =
    `This is practice node ${name}, with its own mounts, processes, network and root filesystem, in ` +
    `memory. It runs ${whose.kubelet} and ${whose.runtime}. ` +
    `${faults === 1 ? 'Within a minute one fault is' : `In the next minutes ${faults} faults are`} ` +
    'made there for real, found and repaired, with the commands that you would use on your own node. ' +
    'This machine itself is not changed.';
  return `${screen.style('bold', 'KubeDiag, a tour on a PRACTICE NODE')}\n\n${storyLines(text, screen)}`;
}

/** What to do after the first fault. */
export function moreLines(program: string, { style }: Pick<Screen, 'style'>): string {
  return [
    '',
    style('bold', 'Next steps'),
    `  see all faults of the tour   ${program} lab tour`,
    `  create a node to break       ${program} lab up`,
    `  check your own node          copy ${program} there; as root: kubediag check`,
    '',
  ].join('\n');
}

export function headingLines(where: string, title: string, screen: Screen): string {
  const line = '─'.repeat(screen.width);
  const left = `PRACTICE NODE  ${title}`;
  const gap = ' '.repeat(Math.max(2, screen.width - left.length - where.length));
  return `\n${line}\n${screen.style('bold', left)}${gap}${where}\n${line}\n`;
}

export function storyLines(text: string, { width }: Screen): string {
  return wrapText(text, width)
    .map((line) => `${line}\n`)
    .join('');
}

/** A command after a prompt, continued on further lines with backslashes. */
export function commandLines(prompt: string, words: string, { width, style }: Screen): string {
  // Break before an option, never between an option and its value.
  const lines = wrapQuote(`${prompt}${words}`, width - ' \\'.length, /( *)((?:[^ ]| (?!--))+)/g);
  return `\n${style('bold', lines.join(' \\\n    '))}\n`;
}

/** Why the kubelet now behaves like another version; empty if it does not. */
export function kubeletLines(habit: Habit, { kubelet }: LabSettings, screen: Screen): string {
  if (kubelet.kind === 'real' || kubelet.version === habit.version) return '';
  const text =
    `The fault needs a kubelet that ${habit.about}, so the stand-in now behaves as ` +
    `${habit.version}.`;
  return `\n${storyLines(text, screen)}`;
}

/** The symptom from a page of `explain`, and the headings of the rest. */
export function shortPage(page: string): string {
  const lines = page.trimEnd().split('\n');
  const cause = lines.findIndex((line) => plain(line) === 'Cause');
  if (cause < 0) return `${lines.join('\n')}\n`;
  const headings = lines
    .slice(cause)
    .map(plain)
    .filter((line) => HEADINGS.includes(line));
  const shown = lines.slice(0, cause).join('\n').trimEnd();
  return `${shown}\n\n[...] and then: ${headings.join(', ')}\n`;
}

const HEADINGS = ['Cause', 'How we know', 'What recovery does', 'Manual steps'];

/** Without escape sequences. */
function plain(line: string): string {
  return line.replace(new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g'), '');
}
