"""What a workshop needs: learner copies, slides and the instructor's guide."""
