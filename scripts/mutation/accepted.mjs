/**
 * Mutants that no test notices and that stay, each with the reason. One is found by its file, the line where it begins,
 * and what is replaced by what; a test holds each to be still there.
 *
 * @type {readonly { file: string, text: string, from: string, to: string, reason: string }[]}
 */
export const ACCEPTED = [];
