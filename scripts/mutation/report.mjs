/** What a run of generated mutants comes to: a score by folder, and every survivor. */

/** What the tests should notice at least: more in the core, on which everything stands. */
const CORE_AIM = 0.9;
const OTHER_AIM = 0.85;

const keyOf = ({ file, text, from, to }) => JSON.stringify([file, text, from, to]);

/** @returns {Map<string, string>} reasons, by what they are about */
export function accepted(entries) {
  return new Map(entries.map((entry) => [keyOf(entry), entry.reason]));
}

/**
 * @param {readonly import('./generate.mjs').Mutant[]} mutants
 * @param {Awaited<ReturnType<typeof import('./judge.mjs').judge>>} judged
 * @param {Map<string, string>} reasons
 */
export function summary(mutants, { noticed, met, failing, undecided, notAsked }, reasons) {
  const rows = mutants.map((mutant) => {
    const { id, file, line, text, from, to } = mutant;
    return {
      file,
      line,
      text,
      from,
      to,
      noticed: noticed.get(id),
      isMet: met.has(id),
      isUndecided: undecided.has(id),
      reason: reasons.get(keyOf(mutant)),
    };
  });
  const folders = [...grouped(rows)]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([folder, of]) => scored(folder, of));
  const left = rows.flatMap(({ noticed: by, ...row }) => (by === undefined ? [row] : []));
  const [survivors, open] = [false, true].map((wanted) =>
    left.flatMap(({ isUndecided, ...row }) => (isUndecided === wanted ? [row] : [])),
  );
  const how = {};
  for (const row of rows) if (row.noticed) how[row.noticed.how] = (how[row.noticed.how] ?? 0) + 1;
  return {
    ...counted(rows),
    how,
    folders,
    survivors,
    undecided: open,
    notAsked,
    failing: Object.fromEntries(failing),
  };
}

function scored(folder, rows) {
  const counts = counted(rows);
  const aim = folder === 'src/correctable' ? CORE_AIM : OTHER_AIM;
  return { folder, ...counts, aim, met: counts.score !== null && counts.score >= aim };
}

/**
 * What survives with a reason survives: the score counts it as missed. `mutants` are those that are decided. Where a run that
 * was cut short left some open there is no score: those that are noticed are decided first.
 */
function counted(all) {
  const rows = all.filter((row) => !row.isUndecided);
  const noticed = rows.filter((row) => row.noticed !== undefined).length;
  const withReason = rows.filter((row) => row.noticed === undefined && row.reason !== undefined).length;
  return {
    mutants: rows.length,
    noticed,
    withReason,
    score: rows.length === 0 || rows.length < all.length ? null : rounded(noticed / rows.length),
  };
}

const rounded = (value) => Math.round(value * 1000) / 1000;

function grouped(rows) {
  const groups = new Map();
  for (const row of rows) groups.set(folderOf(row.file), [...(groups.get(folderOf(row.file)) ?? []), row]);
  return groups;
}

/** `src/NAME`, or `src/bindings/NAME`. */
function folderOf(file) {
  const parts = file.split('/').slice(0, -1);
  return parts.slice(0, parts[1] === 'bindings' ? 3 : 2).join('/');
}

/** The same, for people. */
export function told({ folders, survivors, undecided, notAsked, seconds, testFiles, failing, isCut, ...all }) {
  const lines = survivors.flatMap(({ file, line, from, to, isMet, reason }) => [
    `${reason === undefined ? 'MISSED' : 'stays '}  ${file}:${line}  ${short(from)} → ${short(to)}${isMet ? '' : '  (no test comes there)'}`,
    ...(reason === undefined ? [] : [`        ${reason}`]),
  ]);
  for (const [file, names] of Object.entries(failing))
    lines.push(`not asked, for it fails without a mutant: ${file}: ${names.join('; ')}`);
  for (const { folder, mutants, noticed, withReason, score, aim, met } of folders)
    lines.push(
      `${folder}: ${noticed} of ${mutants} noticed, ${score ?? 'no score'} (aim ${aim}${met ? '' : ', not met'}); ${withReason} stay with a reason`,
    );
  if (notAsked > 0) lines.push(`${notAsked} test files were not asked: those before had said nothing new for long`);
  if (undecided.length > 0) lines.push(`${undecided.length} are undecided: there is no score where they are`);
  lines.push(
    `${all.noticed} of ${all.mutants} in ${seconds} s, by ${testFiles} test files${isCut ? '; cut short' : ''}`,
  );
  return lines.join('\n');
}

function short(code) {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 57)}…` : line;
}
