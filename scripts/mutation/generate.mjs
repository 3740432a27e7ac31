/**
 * Mutants of a source file: places where one expression or statement is replaced by another that a test should tell
 * from it. Strings are left alone: what the types do not hold of them are mostly sentences for people.
 */
import ts from 'typescript';

/**
 * @typedef {object} Mutant
 * @property {number} id unique in one run, from 1
 * @property {string} file relative to the root
 * @property {number} line from 1
 * @property {string} text the line where it begins, trimmed: with `from` and `to` its name, wherever it moves
 * @property {string} from what is replaced
 * @property {string} to
 * @property {number} start where it stands in the file
 * @property {number} end
 * @property {'expression' | 'statement'} kind
 */

const { SyntaxKind } = ts;
const BOUNDARIES = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
]);
const NEGATIONS = new Map([
  [SyntaxKind.LessThanToken, '>='],
  [SyntaxKind.LessThanEqualsToken, '>'],
  [SyntaxKind.GreaterThanToken, '<='],
  [SyntaxKind.GreaterThanEqualsToken, '<'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
]);
const LOGICAL = new Map([
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
]);
const ARITHMETIC = new Map([
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '/'],
  [SyntaxKind.SlashToken, '*'],
  [SyntaxKind.PercentToken, '*'],
  [SyntaxKind.PlusEqualsToken, '-='],
  [SyntaxKind.MinusEqualsToken, '+='],
]);
const METHODS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
]);

/**
 * @param {ts.SourceFile} source
 * @param {ts.TypeChecker} checker
 * @param {string} file as the mutants are to name it
 * @returns {Omit<Mutant, 'id'>[]} in the order of the file, not yet checked by the compiler
 */
export function generate(source, checker, file) {
  const mutants = [];
  const add = (node, to, kind = 'expression') => {
    const start = node.getStart(source);
    const from = source.text.slice(start, node.end);
    if (from === to) return;
    const { line } = source.getLineAndCharacterOfPosition(start);
    const begins = source.getPositionOfLineAndCharacter(line, 0);
    const text = source.text.slice(begins, source.text.indexOf('\n', begins)).trim();
    mutants.push({ file, line: line + 1, text, from, to, start, end: node.end, kind });
  };
  const between = (node, operator) => `${node.left.getText(source)} ${operator} ${node.right.getText(source)}`;

  const visit = (node) => {
    if (isWithoutValue(node)) return;
    if (ts.isExpressionStatement(node) && !isKept(node.expression)) add(node, ';', 'statement');
    else if (isCondition(node)) ofCondition(node);
    else if (ts.isReturnStatement(node) && node.expression) ofReturn(node.expression);
    else if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) ofReturn(node.body);
    if (ts.isBinaryExpression(node)) ofBinary(node);
    else if (ts.isPrefixUnaryExpression(node)) ofPrefix(node);
    else if (ts.isPostfixUnaryExpression(node)) add(node, node.getText(source).replace(/(\+\+|--)$/, swapped));
    else if (ts.isNumericLiteral(node)) add(node, node.text === '0' ? '1' : `(${node.getText(source)} + 1)`);
    else if (node.kind === SyntaxKind.TrueKeyword && !isWholeCondition(node)) add(node, 'false');
    else if (node.kind === SyntaxKind.FalseKeyword && !isWholeCondition(node)) add(node, 'true');
    else if (ts.isCallExpression(node)) ofCall(node);
    ts.forEachChild(node, visit);
  };

  const ofCondition = (node) => {
    if (node.kind !== SyntaxKind.TrueKeyword) add(node, 'false');
    // A loop that never ends says nothing but that.
    if (!ts.isWhileStatement(node.parent) && !ts.isForStatement(node.parent) && !ts.isDoStatement(node.parent))
      add(node, 'true');
  };

  const ofReturn = (node) => {
    if (isLiteral(node)) return;
    const flags = checker.getTypeAtLocation(node).flags;
    if (flags & ts.TypeFlags.BooleanLike) {
      if (ts.isBinaryExpression(node) || ts.isPrefixUnaryExpression(node)) return;
      add(node, 'true');
      add(node, 'false');
    } else if (flags & ts.TypeFlags.NumberLike) add(node, '0');
    else if (flags & ts.TypeFlags.StringLike) add(node, "''");
    else if (checker.isArrayType(checker.getTypeAtLocation(node))) add(node, '[]');
    else add(node, 'undefined');
  };

  const ofBinary = (node) => {
    const operator = node.operatorToken.kind;
    if (BOUNDARIES.has(operator)) add(node, between(node, BOUNDARIES.get(operator)));
    // Of a condition, `true` and `false` say more than its opposite.
    if (NEGATIONS.has(operator) && !isCondition(node)) add(node, between(node, NEGATIONS.get(operator)));
    if (LOGICAL.has(operator)) add(node, between(bracketed(node), LOGICAL.get(operator)));
    if (operator === SyntaxKind.QuestionQuestionToken) {
      add(node, node.left.getText(source));
      add(node, node.right.getText(source));
    }
    if (ARITHMETIC.has(operator) && isNumber(node.left)) add(node, between(node, ARITHMETIC.get(operator)));
  };

  /** Both sides in brackets, so that the other operator binds them as this one did. */
  const bracketed = ({ left, right }) => ({
    left: { getText: () => `(${left.getText(source)})` },
    right: { getText: () => `(${right.getText(source)})` },
  });

  const ofPrefix = (node) => {
    if (node.operator === SyntaxKind.ExclamationToken && !isCondition(node)) add(node, node.operand.getText(source));
    if (node.operator === SyntaxKind.MinusToken) add(node, node.operand.getText(source));
    if (node.operator === SyntaxKind.PlusPlusToken || node.operator === SyntaxKind.MinusMinusToken)
      add(node, node.getText(source).replace(/^(\+\+|--)/, swapped));
  };

  const ofCall = (node) => {
    const callee = node.expression;
    if (!ts.isPropertyAccessExpression(callee) || callee.questionDotToken || !METHODS.has(callee.name.text)) return;
    const after = source.text.slice(callee.name.end, node.end);
    add(node, `${callee.expression.getText(source)}.${METHODS.get(callee.name.text)}${after}`);
  };

  const isNumber = (node) =>
    (checker.getTypeAtLocation(node).flags & (ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike)) !== 0;

  visit(source);
  return mutants;
}

const swapped = (operator) => (operator === '++' ? '--' : '++');

/** Types, imports and names: nothing of them runs. */
function isWithoutValue(node) {
  return (
    ts.isTypeNode(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isComputedPropertyName(node) ||
    (ts.isPropertyName(node) && node.parent.name === node && !ts.isPrivateIdentifier(node))
  );
}

/** Nothing works without `super()`; and who says `void` wants nothing of it. */
function isKept(expression) {
  return (
    (ts.isCallExpression(expression) && expression.expression.kind === SyntaxKind.SuperKeyword) ||
    ts.isStringLiteral(expression)
  );
}

function isCondition(node) {
  const { parent } = node;
  if (parent === undefined) return false;
  if (ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent))
    return parent.expression === node;
  return (ts.isConditionalExpression(parent) || ts.isForStatement(parent)) && parent.condition === node;
}

const isWholeCondition = (node) => isCondition(node);

const isLiteral = (node) =>
  ts.isLiteralExpression(node) ||
  node.kind === SyntaxKind.TrueKeyword ||
  node.kind === SyntaxKind.FalseKeyword ||
  (ts.isIdentifier(node) && node.text === 'undefined');
