/** What React complains of only because several scenarios, with their servers, share a page; and errors that boundaries get. */
export const EXPECTED_WARNINGS = /multiple renderers concurrently|The above error occurred/;
