/** Reads a pipe to its end on a core of its own and reports what it read. argv is the path of the pipe. */

import { countLog } from '../suite/logcount';
import { report } from './report';

report(countLog(process.argv[2]));
