/** The listed mutants: each still breaks one line, of a rule that there is, before a test that there is. */
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

interface Mutant {
  readonly name: string;
  readonly rule: string;
  readonly file: string;
  readonly line: string;
  readonly replacement: string;
  readonly command: readonly string[];
}

// Scripts are plain JavaScript, of which the compiler knows nothing.
const scripts = '../../../scripts/mutants';
const { MUTANTS } = (await import(`${scripts}/listed.mjs`)) as { readonly MUTANTS: readonly Mutant[] };
const { broken } = (await import(`${scripts}/broken.mjs`)) as {
  readonly broken: (whole: string, line: string, replacement: string) => string | undefined;
};

const pages = [
  'docs/protocol.md',
  'docs/spec/correctable.md',
  'docs/spec/redblue.md',
  'docs/spec/exactly-once.md',
  'docs/spec/storage.md',
  'docs/spec/between-sites.md',
  'docs/spec/rights.md',
  'docs/spec/cache.md',
  'docs/spec/cassandra-icg.md',
  'docs/bindings/zookeeper.md',
  'docs/case-studies.md',
];
const textOf = new Map(pages.map((page) => [basename(page, '.md'), readFileSync(page, 'utf8')]));

function syntaxFaults(file: string, text: string): readonly string[] {
  // The compiler tells them of any source, though its types do not say so.
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest) as ts.SourceFile & {
    readonly parseDiagnostics: readonly ts.Diagnostic[];
  };
  return source.parseDiagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('%s', (_, mutant) => {
  test('its line → stands in its file, once', () => {
    expect(broken(readFileSync(mutant.file, 'utf8'), mutant.line, mutant.replacement)).toBeDefined();
  });

  test('its replacement → can be parsed: what no test can load proves nothing', () => {
    const text = broken(readFileSync(mutant.file, 'utf8'), mutant.line, mutant.replacement) ?? '';
    expect(syntaxFaults(mutant.file, text)).toEqual([]);
  });

  test('its rule → stands on its page', () => {
    const [page = '', rule] = mutant.rule.split(' ');
    expect(textOf.get(page)).toMatch(
      rule === undefined ? /./ : new RegExp(`^(\\| ${rule} \\||${rule}\\. |- \\*\\*${rule} )|\`${rule}\``, 'm'),
    );
  });

  test('its command → names files that there are', () => {
    const files = mutant.command.filter((word) => word.endsWith('.ts'));
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
});

test('names → differ', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});
