/**
 * Checks the language of what users read: README.md, the pages of docs without docs/spec, string
 * literals in src and demo (messages, help texts), and docstrings of what the entries export. Fails
 * on banned words (docs/glossary.md has the words to use) and on sentences of more than 35 words in
 * the pages. `--count` prints how often each word occurs.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { root } from './exec.mjs';

const MAX_WORDS = 35;
/** Each banned pattern with the words to use. */
const BANNED = [
  [/\b(?:told|tells?|telling|said|says)\b/i, 'returns, reports, notifies, specifies, fails with'],
  [/\b(?:whoever|whatever|nobody|somebody|whereabouts)\b/i, 'client, caller, site, process, user'],
  [/\bask(?:s|ed)? again\b|\banew\b/i, 'retry, resend, again'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\bunder way\b/i, 'in flight, pending'],
  [/\bwhole numbers?\b/i, 'integer'],
  [/\b(?:data )?folders?\b/i, 'directory'],
  [/\bunless given\b|\b(?:is|are) given\b|\bwas given\b/i, 'default, received, passed'],
  [
    /\b(?:colour|behaviour|favour|honour|labelling|labelled(?!by)|authoris|generalis|normalis|recognis|initialis|serialis|synchronis)/i,
    'American spelling',
  ],
  [
    /^(?:Who|Whoever|What) (?:is|are|was|a|an|the|it|they|you|has|does|comes?|stands?|happens)\b[^?]*\.$/i,
    'name the actor first',
  ],
  [/^Where\b[^?]*\.$/i, 'if, when'],
  [/, where (?:no|nothing|none|one|it|there)\b/i, 'if, when'],
];

const git = (...patterns) =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));
const problems = [];
const counts = new Map(BANNED.map(([, words]) => [words, 0]));

/** Reports the banned words of one text. */
function checkWords(place, text) {
  for (const sentence of text.split(/(?<=[.!?])\s+(?=[A-Z`"*])/)) {
    for (const [pattern, words] of BANNED) {
      const found = pattern.exec(sentence.trim());
      if (!found) continue;
      counts.set(words, counts.get(words) + 1);
      problems.push(`${place}: "${found[0].slice(0, 40)}": use ${words}`);
    }
  }
}

/**
 * Returns the paragraphs of a page as [line, text]: without code blocks, tables, figures and
 * comments.
 */
function readParagraphs(page) {
  const blank = (block) => block.replaceAll(/[^\n]/g, '');
  const text = page.replaceAll(/^```[\s\S]*?^```/gm, blank).replaceAll(/<!--[\s\S]*?-->/g, blank);
  const paragraphs = [];
  let from = 0;
  let lines = [];
  const end = () => {
    if (lines.length > 0) paragraphs.push([from, lines.join(' ')]);
    lines = [];
  };
  for (const [index, line] of text.split('\n').entries()) {
    const isTable = /^\s*\|/.test(line);
    if (line.trim() === '' || isTable || /^\s*(?:[-*]|\d+\.|#+|>)\s/.test(line)) end();
    if (isTable)
      paragraphs.push(...line.split(/(?<!\\)\|/).map((cell) => [index + 1, cell.trim()]));
    else if (line.trim() !== '') {
      if (lines.length === 0) from = index + 1;
      lines.push(line.trim().replace(/^(?:[-*]|\d+\.|#+|>)\s+/, ''));
    }
  }
  end();
  return paragraphs.filter(([, paragraph]) => paragraph !== '');
}

function checkPage(file) {
  for (const [line, paragraph] of readParagraphs(readFileSync(join(root, file), 'utf8'))) {
    const prose = paragraph.replaceAll(/`[^`]*`/g, 'code').replaceAll(/\]\([^)]*\)/g, ']');
    checkWords(`${file}:${line}`, prose);
    for (const sentence of prose.split(/(?<=[.!?:])\s+/)) {
      const words = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
      if (words > MAX_WORDS)
        problems.push(`${file}:${line}: a sentence of ${words} words: split it`);
    }
  }
}

function checkLiterals(file) {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const visit = (node) => {
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node);
    if (isText && /\w \w/.test(node.text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      checkWords(`${file}:${line + 1}`, node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/** Checks the docstrings of everything that an entry of the package exports, with their members. */
function checkDocstrings() {
  const { exports: published } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entries = Object.values(published)
    .filter((target) => typeof target === 'object')
    .map(({ default: built }) =>
      join(root, built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
    );
  const config = ts.getParsedCommandLineOfConfigFile(join(root, 'tsconfig.json'), {}, ts.sys);
  const program = ts.createProgram(entries, config.options);
  const checker = program.getTypeChecker();
  const seen = new Set();
  const check = (node) => {
    for (const { comment, parent, pos } of ts.getJSDocCommentsAndTags(node)) {
      const text =
        typeof comment === 'string' ? comment : (ts.getTextOfJSDocComment(comment) ?? '');
      const source = parent.getSourceFile();
      if (seen.has(`${source.fileName}:${pos}`)) continue;
      seen.add(`${source.fileName}:${pos}`);
      const { line } = source.getLineAndCharacterOfPosition(pos);
      checkWords(`${relative(root, source.fileName)}:${line + 1}`, text.replaceAll('\n', ' '));
    }
    for (const member of node.members ?? node.type?.members ?? []) check(member);
  };
  for (const entry of entries) {
    for (const symbol of checker.getExportsOfModule(
      checker.getSymbolAtLocation(program.getSourceFile(entry)),
    )) {
      const target =
        symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      for (const declaration of target.declarations ?? []) {
        if (declaration.getSourceFile().fileName.startsWith(join(root, 'src'))) check(declaration);
      }
    }
  }
}

for (const file of git('README.md', 'docs/*.md').filter((name) => !name.startsWith('docs/spec/')))
  checkPage(file);
for (const file of git('src/*.ts', 'demo/*.ts', 'demo/*.tsx', 'research/*.ts')) checkLiterals(file);
checkDocstrings();

if (process.argv.includes('--count'))
  for (const [words, count] of counts) console.log(`${count} times instead of: ${words}`);
for (const problem of problems) console.log(problem);
console.log(`${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
