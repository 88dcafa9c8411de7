import type { Terminal } from '../src/lib/terminal/terminal.ts';
import { wrapQuote, wrapText } from '../src/lib/terminal/wrap.ts';
import type { Habit } from './breaks/kubelet-habits.ts';
import type { LabSettings } from './settings.ts';

type Screen = Pick<Terminal, 'width' | 'style'>;

/** What stands on the screen first: that it is practice, and what of it is real. */
export function introLines(
  { name, kubelet, runtime }: LabSettings,
  faults: number,
  screen: Screen,
): string {
  const whose = {
    kubelet:
      kubelet.kind === 'real'
        ? `a real kubelet ${kubelet.version}`
        : `our stand-in for a kubelet ${kubelet.version}`,
    runtime:
      runtime.kind === 'containerd' ? 'a real containerd' : 'our stand-in for a container runtime',
  };
  const text =
    `This is the practice node ${name}: mounts, processes, a network and a root folder of its own, in ` +
    `memory. On it run ${whose.kubelet} and ${whose.runtime}. ` +
    `${faults === 1 ? 'Within a minute one fault is' : `In the next minutes ${faults} faults are`} ` +
    'made there for real, found and repaired, by the commands that you would type on a node of your ' +
    'own. Nothing of this machine is touched.';
  return `${screen.style('bold', 'KubeDiag, a tour on a PRACTICE NODE')}\n\n${storyLines(text, screen)}`;
}

/** How a person goes on who has seen one fault. */
export function moreLines(program: string, { style }: Pick<Screen, 'style'>): string {
  return [
    '',
    style('bold', 'To go on'),
    `  see all faults of the tour   ${program} lab tour`,
    `  make a node to break         ${program} lab up`,
    `  check a node of your own     copy ${program} there; as root: kubediag check`,
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

/** What is typed after a prompt, on more lines where one is too short: a shell reads them as one. */
export function commandLines(prompt: string, words: string, { width, style }: Screen): string {
  // Break before an option, never between an option and its value.
  const lines = wrapQuote(`${prompt}${words}`, width - ' \\'.length, /( *)((?:[^ ]| (?!--))+)/g);
  return `\n${style('bold', lines.join(' \\\n    '))}\n`;
}

/** Why the kubelet is another one than the tour began with; nothing where it is the same. */
export function kubeletLines(habit: Habit, { kubelet }: LabSettings, screen: Screen): string {
  if (kubelet.kind === 'real' || kubelet.version === habit.version) return '';
  const text =
    `It takes a kubelet that ${habit.about}, so for this fault our stand-in behaves as ` +
    `${habit.version}.`;
  return `\n${storyLines(text, screen)}`;
}

/** Of a page of `explain` the symptom, by which a person knows the fault; the rest is for later. */
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

/** Without what makes it bold. */
function plain(line: string): string {
  return line.replace(new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g'), '');
}
