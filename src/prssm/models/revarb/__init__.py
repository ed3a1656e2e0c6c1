"""REVARB: a recurrent GP with one or two latent layers."""
