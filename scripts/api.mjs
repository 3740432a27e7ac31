/**
 * What the package shows of itself, as text: one file of `api/` a published entry, with the
 * declarations of all that it exports, and the names of those types that these reach and no entry
 * exports. A change of the surface changes a file there, so that it is seen by whoever reads the
 * change. `npm run api` writes them, `npm run check` compares.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { root } from './exec.mjs';

/** The published entries: subpath and source. */
function decodeEntries() {
  const entries = JSON.parse(readFileSync(join(root, 'scripts/entries.json'), 'utf8'));
  return entries.map(({ subpath, source }) => [subpath, join(root, source)]);
}

/**
 * @param {readonly (readonly [subpath: string, source: string])[]} entries
 * @returns {Map<string, string>} the text of each report by the name of its file
 */
export function reportsOf(entries) {
  const { program, declared } = declarationsOf(entries.map(([, source]) => source));
  const checker = program.getTypeChecker();

  const exported = new Map(
    entries.map(([subpath, source]) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(source));
      return [
        subpath,
        checker.getExportsOfModule(module).map((symbol) => placeOf(symbol, checker)),
      ];
    }),
  );
  const shown = new Set([...exported.values()].flat().map(({ file, own }) => `${file} ${own}`));
  return new Map(
    [...exported].map(([subpath, names]) => {
      const name = subpath === '.' ? 'index' : subpath.slice(2).replaceAll('/', '-');
      return [`${name}.txt`, reportOf(subpath, names, declared, shown)];
    }),
  );
}

/** Where a name that is exported is declared, and as what. */
function placeOf(symbol, checker) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const [declaration] = target.declarations;
  return { name: symbol.name, own: target.name, file: declaration.getSourceFile().fileName };
}

/**
 * Files of what is installed, the compiler's own library among them: parsed once, however many
 * reports are made.
 */
const installed = new Map();

/** Reads as the compiler does, and what is installed once. */
function hostFor(options) {
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (path, ...rest) => {
    if (!path.includes('/node_modules/')) return read(path, ...rest);
    if (!installed.has(path)) installed.set(path, read(path, ...rest));
    return installed.get(path);
  };
  return host;
}

/** The declarations of all sources, without comments: by file, then by name. */
function declarationsOf(sources) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
  const emitted = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    removeComments: true,
  };
  const all = { ...options, ...emitted, outDir: root, rootDir: root };
  const program = ts.createProgram(sources, all, hostFor(all));
  const declared = new Map();
  program.emit(undefined, (path, text, _bom, _error, from) => {
    for (const { fileName } of from ?? []) declared.set(fileName, namesIn(path, text));
  });
  return { program, declared };
}

/** What a file declares at its top, and from where it imports the rest. */
function namesIn(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const [own, imported] = [new Map(), new Map()];
  const add = (name, node) => own.set(name, [...(own.get(name) ?? []), node]);
  for (const node of file.statements) {
    if (ts.isImportDeclaration(node)) {
      for (const each of node.importClause?.namedBindings?.elements ?? [])
        imported.set(each.name.text, {
          module: node.moduleSpecifier.text,
          name: (each.propertyName ?? each.name).text,
        });
    } else if (ts.isVariableStatement(node)) {
      for (const each of node.declarationList.declarations) add(each.name.getText(), node);
    } else if (node.name !== undefined) add(node.name.text, node);
  }
  return { own, imported };
}

function reportOf(subpath, names, declared, shown) {
  const hidden = new Map();
  const seen = new Set();
  const look = (file, name) => {
    const { own, imported } = declared.get(file) ?? { own: new Map(), imported: new Map() };
    if (seen.has(`${file} ${name}`)) return;
    seen.add(`${file} ${name}`);
    for (const used of (own.get(name) ?? []).flatMap(typesIn)) {
      const from = imported.get(used);
      if (from !== undefined && !from.module.startsWith('.')) continue;
      if (from === undefined && !own.has(used)) continue;
      const place = from === undefined ? file : getSource(file, from.module);
      const known = from?.name ?? used;
      if (!shown.has(`${place} ${known}`)) hidden.set(`${place} ${known}`, known);
      look(place, known);
    }
  };
  const parts = names
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, own, file }) => {
      look(file, own);
      const nodes = declared.get(file)?.own.get(own) ?? [];
      const text = nodes
        .map((node) => node.getText().replace(/^export (declare )?/, ''))
        .join('\n');
      return name === own ? text : `${name} is ${text}`;
    });
  const reached = [...new Set(hidden.values())].toSorted((a, b) => (a < b ? -1 : 1));
  const title = `# ${subpath.replace('.', 'correctables')}: ${names.length} names`;
  const rest = `# reached, and exported by no entry: ${reached.length}\n${reached.join('\n')}`;
  return `${[title, ...parts, rest].join('\n\n').trimEnd()}\n`;
}

/** The names of types that a declaration mentions. */
function typesIn(node) {
  const names = [];
  const visit = (each) => {
    if (ts.isTypeReferenceNode(each)) names.push(leftOf(each.typeName));
    else if (ts.isExpressionWithTypeArguments(each)) names.push(each.expression.getText());
    else if (ts.isTypeQueryNode(each)) names.push(leftOf(each.exprName));
    ts.forEachChild(each, visit);
  };
  visit(node);
  return names;
}

function leftOf(name) {
  return ts.isQualifiedName(name) ? leftOf(name.left) : name.text;
}

function getSource(file, module) {
  return resolve(dirname(file), module.replace(/\.js$/, '.ts'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'api');
  const wanted = reportsOf(decodeEntries());
  if (process.argv.includes('--write')) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    for (const [name, text] of wanted) writeFileSync(join(folder, name), text);
  } else {
    const there = readdirSync(folder);
    const read = (name) =>
      there.includes(name) ? readFileSync(join(folder, name), 'utf8') : undefined;
    const old = [...wanted].filter(([name, text]) => read(name) !== text).map(([name]) => name);
    const gone = there.filter((name) => !wanted.has(name));
    for (const name of [...old, ...gone])
      console.log(`${relative(root, join(folder, name))} is old`);
    if (old.length + gone.length > 0) {
      console.log('What the package shows has changed: npm run api, and say so in CHANGELOG.md');
      process.exit(1);
    }
  }
}
