/**
 * What React complains of only because pages and their servers share a process; and errors that
 * boundaries get.
 */
export const EXPECTED_WARNINGS = /multiple renderers concurrently|The above error occurred/;
