/** For test suites: does this leave something open? */
export { expectNoLeaks, findLeaks, type Leak, LeakError, type LeakOptions } from './leaks';
