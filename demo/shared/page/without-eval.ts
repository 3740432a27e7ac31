/**
 * Import this file before any schema is created. Schemas then do not test whether they may generate
 * code at run time. The policy of the demos' pages forbids that, and browsers report the test as a
 * violation.
 */
import { config } from 'zod/mini';

config({ jitless: true });
