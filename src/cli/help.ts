/** Formats the help of the command line, as wide as the terminal. */
import type { Command, Flag } from './command.ts';
import { getVariableNames } from './command-line.ts';

const DOCS = 'docs/README.md of the package, and docs/reference/cli.md';
const DEFAULT_WIDTH = 80;
const MAX_WIDTH = 100;
const INDENT = 2;
/** The maximum width of the column of flags. A longer flag has a line of its own. */
const MAX_FLAG_WIDTH = 30;

const COMMON_FLAGS: readonly Flag[] = [
  { typed: '-h, --help', text: 'Print this help' },
  { typed: '-v, --version', text: 'Print the version' },
];

/** Formats the help of `correctables` itself: its commands, and where the docs are. */
export function formatOverview(commands: readonly Command[], width?: number): string {
  const list = commands.map(({ name, argument, summary }) => ({
    typed: argument === undefined ? name : `${name} ${argument.typed}`,
    text: summary,
  }));
  return [
    'correctables: replicated data with an early view and a final one.',
    'Serve a RedBlue service at several sites, and look after it.',
    '',
    'Usage: correctables <command> [flags]',
    '',
    formatList('Commands', list, width),
    '',
    formatList('Flags', COMMON_FLAGS, width),
    '',
    'Help of one command: correctables <command> --help',
    `Documentation: ${DOCS}`,
  ].join('\n');
}

export function formatCommandHelp(command: Command, width?: number): string {
  const { name, argument, summary, actions, flags, example } = command;
  const words = argument === undefined ? '' : ` ${argument.typed}`;
  const sections = [`Usage: correctables ${name}${words} [flags]`, formatText(summary, width)];
  if (actions !== undefined) {
    const list = actions.map(([typed, text]) => ({ typed, text }));
    sections.push(formatList('Actions', list, width));
  }
  for (const [title, group] of groupFlags([...flags, ...COMMON_FLAGS]))
    sections.push(formatList(title, group, width));
  sections.push(
    `Environment:\n${formatText(describeEnvironment(flags), width, INDENT)}`,
    `Example:\n  ${example}`,
  );
  return sections.join('\n\n');
}

/** Groups the flags. Those without a group come last. */
function groupFlags(flags: readonly Flag[]): ReadonlyMap<string, readonly Flag[]> {
  const hasGroups = flags.some(({ group }) => group !== undefined);
  const groups = new Map<string, Flag[]>();
  const others = hasGroups ? 'Other flags' : 'Flags';
  for (const flag of flags) {
    const title = flag.group ?? others;
    groups.set(title, [...(groups.get(title) ?? []), flag]);
  }
  return groups;
}

function describeEnvironment(flags: readonly Flag[]): string {
  const [first] = flags;
  if (first === undefined) return '';
  const flag = first.typed.replace(/ .*/, '');
  const [variable] = getVariableNames(flag.slice('--'.length));
  const hasPort = flags.some(({ typed }) => typed === '--port <n>');
  const port = hasPort ? ' PORT sets --port.' : '';
  return `Set any flag by a variable instead: ${variable} for ${flag}.${port}`;
}

function formatText(text: string, width = DEFAULT_WIDTH, indent = 0): string {
  return wrapText(text, Math.min(width, MAX_WIDTH) - indent)
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');
}

function formatList(title: string, items: readonly Flag[], width = DEFAULT_WIDTH): string {
  const typedWidths = items.map(({ typed }) => typed.length);
  const column = Math.min(MAX_FLAG_WIDTH, Math.max(...typedWidths)) + INDENT;
  const textWidth = Math.min(width, MAX_WIDTH) - INDENT - column;
  const lines = items.flatMap(({ typed, text, defaultValue }) => {
    const fullText =
      defaultValue === undefined ? text : `${text} (default: ${String(defaultValue)})`;
    const [first = '', ...others] = wrapText(fullText, textWidth);
    const head =
      typed.length + INDENT <= column
        ? [typed.padEnd(column) + first]
        : [typed, ' '.repeat(column) + first];
    return [...head, ...others.map((line) => ' '.repeat(column) + line)];
  });
  const indented = lines.map((line) => ' '.repeat(INDENT) + line);
  return [`${title}:`, ...indented].join('\n');
}

function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width || line === '') line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
