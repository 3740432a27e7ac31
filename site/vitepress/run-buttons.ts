/**
 * Adds a Run button to the code of a page. The `ts` blocks of a page are one program, and a `text`
 * block is what the blocks since the last one print. So a button runs the program up to its block,
 * and shows the output from there.
 */
import { transformSync } from 'esbuild';
import { isPlayable } from './playable-modules.ts';

/** A part of a page's program that prints something. */
export interface Part {
  /** JavaScript. The imports are kept. */
  readonly code: string;
  /** The index of its last block among all blocks. The button is beneath it. */
  readonly block: number;
}

/** A fenced block: what is written behind the fence, and its content. */
export interface Block {
  readonly info: string;
  readonly content: string;
}

const IMPORTED = /^(?:import|export)\s[^'"]*from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm;

/**
 * Returns the parts of the program of a page that run in a browser. The first block that imports
 * something else ends it, because later blocks may use what it declares.
 */
export function findRunnableParts(blocks: readonly Block[]): Part[] {
  const parts: Part[] = [];
  let code = '';
  let last: number | undefined;
  for (const [at, { info, content }] of blocks.entries()) {
    if (info === 'ts') {
      if (!importsOnlyPlayable(content)) break;
      code += content;
      last = at;
    } else if (info === 'text' && last !== undefined) {
      parts.push({ code: removeTypes(code), block: last });
      code = '';
      last = undefined;
    }
  }
  return parts;
}

function importsOnlyPlayable(code: string): boolean {
  return [...code.matchAll(IMPORTED)].every(([, from, effect]) => isPlayable(from ?? effect ?? ''));
}

/** Later blocks use what a block imports, so no import is removed. */
function removeTypes(code: string): string {
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
  return transformSync(code, { loader: 'ts', target: 'es2022', tsconfigRaw }).code;
}

interface Token {
  readonly type: string;
  readonly info: string;
  content: string;
}

interface State {
  tokens: Token[];
  readonly env: { readonly frontmatter?: Record<string, unknown> };
  readonly Token: new (type: string, tag: string, nesting: 0) => Token;
}

/** What this needs of `markdown-it`. */
interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } };
}

/** Adds the buttons. The parts of the program are in the data of the page, as `programParts`. */
export function addRunButtons(markdown: Markdown): void {
  markdown.core.ruler.push('run-buttons', (state) => {
    const { frontmatter } = state.env;
    const fences = state.tokens.filter(({ type }) => type === 'fence');
    const parts = findRunnableParts(
      fences.map(({ info, content }) => ({ info: info.trim(), content })),
    );
    if (frontmatter === undefined || parts.length === 0) return;
    frontmatter['programParts'] = parts.map(({ code }) => code);
    const partAt = new Map(parts.map(({ block }, part) => [fences[block], part]));
    state.tokens = state.tokens.flatMap((token) => {
      const part = partAt.get(token);
      if (part === undefined) return [token];
      const button = new state.Token('html_block', '', 0);
      button.content = `<RunProgram :part="${part}" />\n`;
      return [token, button];
    });
  });
}
