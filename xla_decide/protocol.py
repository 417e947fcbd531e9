"""What a process that studies a model is asked, and what it says that it begins."""

# What is asked of a process.
STUDY, FIRST, SAME_NUMBERS = "study", "study and explain", "compare with the same random numbers"
COMPILE = "the compiler for GPUs"

# Stages that belong to no candidate; a candidate's own is its label.
STARTING, DRAWING, RACING = "the start", "the next example", "the race"
EXPLAINING, END = "the reason", "the end"

CALL_SECONDS = 180  # a process ends where a call takes longer to trace, compile and run
PROCESS_SECONDS = 900.0  # and it is stopped where it takes longer in all
