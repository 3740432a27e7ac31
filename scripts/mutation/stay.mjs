/**
 * Mutants of one line that stay, for one reason; each as what is replaced, and by what.
 *
 * @param {string} file
 * @param {string} reason
 * @param {string} text the line where they begin
 * @param {...readonly [from: string, to: string]} mutants
 */
export function stay(file, reason, text, ...mutants) {
  return mutants.map(([from, to]) => ({ file, text, from, to, reason }));
}
