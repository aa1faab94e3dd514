#!/bin/sh
# A rule without `message` takes the verdict from its checker: null lets the call pass, a JSON
# string blocks it and is the message. The event on stdin may be left unread.
if [ -e ../FREEZE ]; then
    echo '"Work is frozen: the file FREEZE is there. Finish reading and planning; write nothing."'
else
    echo null
fi
